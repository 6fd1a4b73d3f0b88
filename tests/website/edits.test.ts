import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { randomEmail } from '../support/company.ts'
import { selectRows } from '../support/test-app.ts'
import { addMember, randomSlug } from '../support/workspaces.ts'
import { fieldsOf, noticeOn, signUp, startWebsite, type Visitor } from './visitor.ts'

const website = await startWebsite()
const { db } = website

/** Two owners of a new workspace. */
async function startWorkspace() {
  const [ada, bob] = await Promise.all(
    ['Ada', 'Bob'].map((name) => signUp(website, { name, email: randomEmail() })),
  )
  if (!ada || !bob) throw new Error('nobody has signed up')
  const slug = randomSlug()
  await ada.get('/onboarding')
  await ada.submit('/onboarding', { name: 'Acme', slug })
  const [workspace] = await selectRows<{ id: string }>(
    db,
    sql`select id from workspaces where slug = ${slug}`,
  )
  await addMember(website, { id: String(workspace?.id) }, { id: await idOf(bob) }, 'owner')
  return { ada, bob, base: `/w/${slug}` }
}

async function idOf(visitor: Visitor): Promise<string> {
  const { body } = await visitor.get('/settings/profile')
  const email = /<strong>([^<]*)<\/strong>/.exec(body)?.[1]
  const [row] = await selectRows<{ id: string }>(db, sql`select id from users where email = ${email}`)
  return String(row?.id)
}

/** Opens a form. Returns a function that sends it with some of its fields changed, as a browser does. */
async function openForm(visitor: Visitor, page: string, action = page) {
  const { body } = await visitor.get(page)
  const fields = fieldsOf(body, action)
  return (changed: Record<string, string> = {}) => visitor.submit(action, { ...fields, ...changed })
}

async function createSeed(visitor: Visitor, base: string): Promise<string> {
  await visitor.get(`${base}/seeds/new`)
  const { headers } = await visitor.post(`${base}/seeds/new`, {
    title: 'Fewer meetings',
    summary: 'A day\r\nof none.',
    successCriteria: 'One\r\nTwo',
  })
  return String(headers.location).split('?')[0] ?? ''
}

const seedAt = async (path: string) => {
  const [row] = await selectRows<Record<string, unknown>>(
    db,
    sql`select title, summary, problem, success_criteria as criteria, status from seeds
        where id = ${path.split('/').at(-1)}`,
  )
  return row
}

const summariesAt = async (path: string) => {
  const rows = await selectRows<{ summary: string }>(
    db,
    sql`select summary from events where target_id = ${path.split('/').at(-1)} and type = 'seed.updated' order by id`,
  )
  return rows.map(({ summary }) => summary)
}

describe('two people who edit a seed', () => {
  it('keep both changes to different fields, and the activity says who changed which field', async () => {
    const { ada, bob, base } = await startWorkspace()
    const path = await createSeed(ada, base)
    const [sendAda, sendBob] = await Promise.all([
      openForm(ada, `${path}/edit`),
      openForm(bob, `${path}/edit`),
    ])
    expect(noticeOn((await sendAda({ title: 'No meetings' })).body)).toBe('Saved.')
    expect(noticeOn((await sendBob({ summary: 'A week of none.' })).body)).toBe('Saved.')
    expect(await seedAt(path)).toMatchObject({ title: 'No meetings', summary: 'A week of none.' })
    expect(await summariesAt(path)).toEqual([
      'Ada changed the title of the seed from Fewer meetings to No meetings',
      'Bob changed the summary of the seed No meetings',
    ])
  })

  it('get 409 and both texts when they changed the same field, and choose one', async () => {
    const { ada, bob, base } = await startWorkspace()
    const path = await createSeed(ada, base)
    const [sendAda, sendBob] = await Promise.all([
      openForm(ada, `${path}/edit`),
      openForm(bob, `${path}/edit`),
    ])
    await sendAda({ title: 'No meetings', successCriteria: 'One' })
    const refused = await sendBob({ title: 'Meetings on Monday', problem: 'Noise.' })
    expect(refused.statusCode).toBe(409)
    expect(refused.body).toContain('This was changed meanwhile, and nothing was saved.')
    expect(await seedAt(path)).toMatchObject({ title: 'No meetings', problem: null })
    // The field in conflict has both texts, the other one what was typed, and all others what is stored now.
    expect(refused.body.match(/Saved meanwhile:/g)).toHaveLength(1)
    expect(refused.body).toMatch(/id="title-saved"[^]*<bdi>No meetings<\/bdi>/)
    const shown = fieldsOf(refused.body, `${path}/edit`)
    expect(shown).toMatchObject({ title: 'Meetings on Monday', problem: 'Noise.', successCriteria: 'One' })
    expect(noticeOn((await bob.submit(`${path}/edit`, shown)).body)).toBe('Saved.')
    expect(await seedAt(path)).toMatchObject({
      title: 'Meetings on Monday',
      problem: 'Noise.',
      criteria: ['One'],
    })
  })

  it('get no conflict when they saved the same text', async () => {
    const { ada, bob, base } = await startWorkspace()
    const path = await createSeed(ada, base)
    const [sendAda, sendBob] = await Promise.all([
      openForm(ada, `${path}/edit`),
      openForm(bob, `${path}/edit`),
    ])
    await sendAda({ title: 'No meetings' })
    expect(noticeOn((await sendBob({ title: 'No meetings' })).body)).toBe('Saved.')
    expect(await summariesAt(path)).toHaveLength(1)
  })

  it('get 409 when the status was changed after the page was opened', async () => {
    const { ada, bob, base } = await startWorkspace()
    const path = await createSeed(ada, base)
    const [sendAda, sendBob] = await Promise.all([
      openForm(ada, path, `${path}/status`),
      openForm(bob, path, `${path}/status`),
    ])
    expect(noticeOn((await sendAda({ status: 'validating' })).body)).toBe('Status changed.')
    const refused = await sendBob({ status: 'dropped' })
    expect(refused.statusCode).toBe(409)
    expect(refused.body).toContain(
      'Somebody else has changed the status meanwhile: it is validating now. Nothing was saved.',
    )
    expect(refused.body).not.toContain('Compare it')
    expect(await seedAt(path)).toMatchObject({ status: 'validating' })
    const again = fieldsOf(refused.body, `${path}/status`)
    await bob.submit(`${path}/status`, { ...again, status: 'dropped' })
    expect(await seedAt(path)).toMatchObject({ status: 'dropped' })
  })
})

describe('two people who change the settings of a workspace', () => {
  it('keep both changes to different fields, and get 409 with both texts for the same field', async () => {
    const { ada, bob, base } = await startWorkspace()
    const path = `${base}/settings`
    const [sendAda, sendBob, sendOld] = [
      await openForm(ada, path),
      await openForm(bob, path),
      await openForm(bob, path),
    ]
    const moved = randomSlug()
    await sendAda({ name: 'Apex' })
    await sendBob({ slug: moved })
    const [stored] = await selectRows(db, sql`select name, slug from workspaces where slug = ${moved}`)
    expect(stored).toEqual({ name: 'Apex', slug: moved })
    // The old page still has the former address, and leads to the new one.
    const refused = await sendOld({ name: 'Best' })
    expect(refused.statusCode).toBe(409)
    expect(refused.body).toMatch(/id="name-saved"[^]*<bdi>Apex<\/bdi>/)
    const shown = fieldsOf(refused.body, `/w/${moved}/settings`)
    expect(shown).toMatchObject({ name: 'Best', slug: moved })
    await bob.submit(`/w/${moved}/settings`, shown)
    const [after] = await selectRows(db, sql`select name, slug from workspaces where slug = ${moved}`)
    expect(after).toEqual({ name: 'Best', slug: moved })
  })
})

describe('a profile that is edited on two open pages', () => {
  it('returns 409 for the second change of the name, until the person has seen the first', async () => {
    const { ada } = await startWorkspace()
    const path = '/settings/profile'
    const [first, second] = [await openForm(ada, path), await openForm(ada, path)]
    await first({ name: 'Ada L.' })
    const refused = await second({ name: 'A. Lovelace' })
    expect(refused.statusCode).toBe(409)
    expect(refused.body).toMatch(/id="name-saved"[^]*<bdi>Ada L.<\/bdi>/)
    const shown = fieldsOf(refused.body, path)
    expect(shown.name).toBe('A. Lovelace')
    expect(noticeOn((await ada.submit(path, shown)).body)).toBe('Saved.')
  })
})
