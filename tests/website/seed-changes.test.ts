import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { addPerson, createCompany, patch, post } from '../support/company.ts'
import { addEvidence, createSeed, findSeed, joinSeed, type TestSeed } from '../support/seeds.ts'
import { createTestClock } from '../support/test-clock.ts'
import { selectRows } from '../support/test-app.ts'
import { fieldsOf, noticeOn, signInAs, startWebsite } from './visitor.ts'

// What the page of a seed changes in it and in its evidence, besides joining and adding.

const clock = createTestClock()
const website = await startWebsite({ clock })
const { as, db } = website
const company = await createCompany(website)
const [owner, member, viewer] = [
  await signInAs(website, company.owner),
  await signInAs(website, company.member),
  await signInAs(website, company.viewer),
]
const base = `/w/${company.workspace.slug}`
const pathOf = ({ id }: { id: string }) => `${base}/seeds/${id}`
const spaced = (page: string) => page.replaceAll(/\s+/g, ' ')

/** A seed of the owner, which the member has joined. */
async function createShared(): Promise<TestSeed> {
  const seed = await createSeed(website, company.owner, company)
  await joinSeed(website, company.member, seed)
  return seed
}

describe('evidence', () => {
  it('is corrected by its author in a form with what is stored, for 15 minutes', async () => {
    const seed = await createShared()
    const { id } = await addEvidence(website, company.member, seed, { sourceUrl: 'https://example.com/1' })
    const edit = `${pathOf(seed)}/evidence/${id}/edit`
    expect((await owner.get(pathOf(seed))).body).not.toContain(edit)
    expect((await member.get(pathOf(seed))).body).toContain(edit)
    const { body } = await member.get(edit)
    const texts = fieldsOf(body, edit)
    expect(texts).toMatchObject({ summary: 'Seven of ten would', sourceUrl: 'https://example.com/1' })
    expect(body).toMatch(/value="supports"\s+required\s+checked/)
    expect(body).toMatch(/<option value="interview" selected>/)
    const fields = { ...texts, kind: 'survey' }
    const saved = await member.submit(edit, {
      ...fields,
      verdict: 'contradicts',
      summary: 'Two of ten would',
      sourceUrl: '',
    })
    expect(noticeOn(saved.body)).toBe('Evidence corrected.')
    expect(spaced(saved.body)).toMatch(/Two of ten would.* · corrected <time/)
    expect(saved.body).toContain('1 contradicts it')
    expect(saved.body).not.toContain('https://example.com/1')

    await member.get(edit)
    const refused = await member.submit(edit, { ...fields, verdict: 'neutral', summary: ' ' })
    expect(refused.statusCode).toBe(400)
    expect(refused.body).toMatch(/id="summary"[^>]*aria-invalid="true"/)

    const elsewhere = await createShared()
    expect((await member.get(`${pathOf(elsewhere)}/evidence/${id}/edit`)).statusCode).toBe(404)
    clock.advance(15 * 60_000 + 1)
    expect((await member.get(pathOf(seed))).body).not.toContain(edit)
    const late = await member.get(edit)
    expect(late.statusCode).toBe(409)
    expect(late.body).toContain('This evidence can no longer be corrected.')
    for (const visitor of [owner, viewer]) expect((await visitor.get(edit)).statusCode).toBe(403)
  })

  it('is withdrawn with a reason, and stays as one line with who and why', async () => {
    const seed = await createShared()
    const { id } = await addEvidence(website, company.member, seed)
    const { id: other } = await addEvidence(website, company.member, seed, { summary: 'Kept' })
    const withdraw = `${pathOf(seed)}/evidence/${id}/withdraw`
    for (const visitor of [owner, member]) expect((await visitor.get(pathOf(seed))).body).toContain(withdraw)
    expect((await viewer.get(pathOf(seed))).body).not.toContain(withdraw)
    expect((await viewer.submit(withdraw)).statusCode).toBe(403)
    await owner.get(pathOf(seed))
    const done = await owner.submit(withdraw, { reason: 'They were <paid>' })
    expect(noticeOn(done.body)).toBe('Evidence withdrawn.')
    const { body } = await viewer.get(pathOf(seed))
    expect(spaced(body)).toContain('Withdrawn by <bdi>Olga Owner</bdi>: <bdi>They were &lt;paid&gt;</bdi>')
    expect(body).not.toContain('Seven of ten would')
    expect(body).toContain('Kept')
    expect(body).toContain('1 supports it')
    // The activity says why, too.
    const activity = spaced((await viewer.get(`${base}/activity`)).body)
    expect(activity).toMatch(
      /withdrew an interview by <a [^>]*><bdi>Mary Member<\/bdi><\/a> that supports the seed/,
    )
    expect(activity).toContain('<span class="reason"><bdi>They were &lt;paid&gt;</bdi></span>')
    expect((await member.get(pathOf(seed))).body).not.toContain(withdraw)
    expect(member.page()).toContain(`${pathOf(seed)}/evidence/${other}/withdraw`)
  })
})

describe('“I saw this too”', () => {
  const seenOn = (page: string) =>
    /Seen too by[^]*?<\/p>/
      .exec(page)?.[0]
      .replaceAll(/\s+|<[^>]*>/g, ' ')
      .replaceAll(/ +/g, ' ')
      .replaceAll(/ (?=,|$)/g, '')

  it('is a button for who did not add the evidence, without a script, and names who pressed it', async () => {
    const seed = await createShared()
    const { id } = await addEvidence(website, company.member, seed)
    const [see, unsee] = ['see', 'unsee'].map((verb) => `${pathOf(seed)}/evidence/${id}/${verb}`)
    if (!see || !unsee) throw new Error('no paths')
    for (const visitor of [member, viewer]) {
      expect((await visitor.get(pathOf(seed))).body).not.toContain(see)
      expect(visitor.page()).not.toContain('Seen too by')
    }
    expect((await viewer.submit(see)).statusCode).toBe(403)
    await owner.get(pathOf(seed))
    const done = await owner.submit(see)
    expect(noticeOn(done.body)).toBe('You saw this too.')
    expect(seenOn(done.body)).toBe('Seen too by you')
    expect(done.body).toContain(unsee)
    expect(done.body).not.toMatch(new RegExp(`${see}"`))
    expect(seenOn((await viewer.get(pathOf(seed))).body)).toBe('Seen too by Olga Owner')
    expect(spaced((await viewer.get(`${base}/activity`)).body)).toContain(
      'has seen this too: an interview that supports the seed',
    )
    expect(noticeOn((await owner.submit(unsee)).body)).toBe('You did not see this.')
    expect((await viewer.get(pathOf(seed))).body).not.toContain('Seen too by')
  })

  it('is one line on the home of the workspace when several people said so', async () => {
    const seed = await createShared()
    const { id } = await addEvidence(website, company.member, seed)
    for (const person of [company.owner, company.admin]) await as(person, post(`/v1/evidence/${id}/see`))
    const home = spaced((await viewer.get(base)).body)
    expect(home.replaceAll(/<[^>]*>/g, '')).toContain(
      'said “I saw this too” 2 times about the seed Fewer meetings',
    )
  })

  it('holds in two windows, and when the evidence is withdrawn meanwhile', async () => {
    const seed = await createShared()
    const { id } = await addEvidence(website, company.member, seed)
    const see = `${pathOf(seed)}/evidence/${id}/see`
    const other = await signInAs(website, company.owner)
    await owner.get(pathOf(seed))
    await other.get(pathOf(seed))
    for (const window of [owner, other])
      expect(seenOn((await window.submit(see)).body)).toBe('Seen too by you')
    await owner.get(pathOf(seed))
    await other.get(pathOf(seed))
    await as(company.member, post(`/v1/evidence/${id}/withdraw`))
    const refused = await owner.submit(see.replace(/see$/, 'unsee'))
    expect(refused.statusCode).toBe(409)
    expect(refused.body).toContain('This evidence was withdrawn.')
  })

  it('names three on the page of the seed, and all on that of the evidence, to which its button leads back', async () => {
    const seed = await createShared()
    const { id } = await addEvidence(website, company.member, seed)
    const path = `${pathOf(seed)}/evidence/${id}`
    const people = await Promise.all(
      Array.from({ length: 60 }, () => addPerson(website, company.workspace, 'member')),
    )
    for (const [i, person] of people.entries())
      await db.execute(sql`
        insert into evidence_seen (evidence_id, user_id, workspace_id, seen_at)
        values (${id}, ${person.id}, ${company.workspace.id}, now() + ${i} * interval '1 second')`)
    const names = people.map(({ name }) => name)
    const three = names.slice(0, 3).join(', ')
    expect(seenOn((await viewer.get(pathOf(seed))).body)).toBe(`Seen too by ${three} and 57 others`)
    expect(viewer.page()).toContain(`href="${path}#seen"`)
    await owner.get(path)
    const done = await owner.submit(`${path}/see`, fieldsOf(owner.page(), `${path}/see`))
    expect(done.body).toContain('<h1>Evidence</h1>')
    const all = seenOn(done.body) ?? ''
    expect(all.startsWith('Seen too by you, ')).toBe(true)
    for (const person of people) expect(done.body).toContain(`href="${base}/people/${person.id}"`)
    expect(seenOn((await owner.get(pathOf(seed))).body)).toBe(`Seen too by you, ${three} and 57 others`)
  })
})

describe('the status', () => {
  it('is changed with a reason, which the history shows', async () => {
    const seed = await createShared()
    await member.get(pathOf(seed))
    const done = await member.submit(`${pathOf(seed)}/status`, {
      status: 'dropped',
      statusReason: ' Nobody wants it ',
    })
    expect(noticeOn(done.body)).toBe('Status changed.')
    expect(spaced(done.body)).toContain('<span class="reason"><bdi>Nobody wants it</bdi></span>')
  })

  it('is not overruled by a button of an old page, which keeps the reason', async () => {
    const seed = await createShared()
    const action = `${pathOf(seed)}/status`
    const opened = fieldsOf((await member.get(pathOf(seed))).body, action)
    await as(company.owner, patch(`/v1/seeds/${seed.id}`, { status: 'validating' }))
    const refused = await member.submit(action, { ...opened, status: 'dropped', statusReason: 'Too late' })
    expect(refused.statusCode).toBe(409)
    expect(refused.body).toContain('Somebody else has changed the status meanwhile: it is ')
    expect(refused.body).toMatch(
      /name="statusReason"[^>]*value="Too late"|value="Too late"[^>]*name="statusReason"/,
    )
    expect(await findSeed(website, seed)).toMatchObject({ status: 'validating' })
    const again = { ...fieldsOf(refused.body, action), statusReason: '' }
    expect(noticeOn((await member.submit(action, { ...again, status: 'dropped' })).body)).toBe(
      'Status changed.',
    )
  })
})

describe('the lead', () => {
  it('is chosen among the participants, and not overruled by an old page', async () => {
    const seed = await createShared()
    const action = `${pathOf(seed)}/lead`
    const { body } = await member.get(pathOf(seed))
    expect(spaced(body)).toMatch(/<bdi>Olga Owner<\/bdi><\/a> <span class="tag">Lead<\/span>/)
    const opened = fieldsOf(body, action)
    const done = await member.submit(action, { ...opened, leadUserId: company.member.id })
    expect(noticeOn(done.body)).toBe('Lead changed.')
    expect(spaced(done.body)).toMatch(/<bdi>Mary Member<\/bdi><\/a> <span class="tag">Lead<\/span>/)
    const own = fieldsOf((await owner.get(pathOf(seed))).body, action)
    const late = { ...own, opened: String(opened.opened), leadUserId: '' }
    expect((await owner.submit(action, late)).statusCode).toBe(409)
    expect(await findSeed(website, seed)).toMatchObject({ lead_user_id: company.member.id })
    const none = fieldsOf((await owner.get(pathOf(seed))).body, action)
    expect(noticeOn((await owner.submit(action, { ...none, leadUserId: '' })).body)).toBe('Lead changed.')
    expect(await findSeed(website, seed)).toMatchObject({ lead_user_id: null })
    const outsider = fieldsOf((await owner.get(pathOf(seed))).body, action)
    const refused = await owner.submit(action, { ...outsider, leadUserId: company.admin.id })
    expect(refused.body).toContain('The lead must have joined the seed')
  })
})

describe('following', () => {
  it('is begun and ended by everybody who reads the seed', async () => {
    const seed = await createShared()
    for (const [visitor, begins] of [
      [viewer, true],
      [viewer, false],
      [member, false],
      [member, true],
    ] as const) {
      const [verb, other] = begins ? ['follow', 'unfollow'] : ['unfollow', 'follow']
      const { body } = await visitor.get(pathOf(seed))
      expect(body).toContain(`action="${pathOf(seed)}/${verb}"`)
      expect(body).not.toContain(`action="${pathOf(seed)}/${other}"`)
      const done = await visitor.submit(`${pathOf(seed)}/${verb}`)
      expect(noticeOn(done.body)).toBe(begins ? 'You follow the seed.' : 'You no longer follow the seed.')
      expect(done.body).toContain(`action="${pathOf(seed)}/${other}"`)
    }
  })
})

describe('deleting a seed', () => {
  it('leads to the list, where it can be undone at once', async () => {
    const title = `Gone <${Date.now()}>`
    const seed = await createSeed(website, company.owner, company, { title })
    await owner.get(pathOf(seed))
    const done = await owner.submit(`${pathOf(seed)}/delete`)
    expect(done.body).toContain('<h1>Seeds</h1>')
    expect(spaced(done.body)).toContain(
      `Deleted <bdi>${title.replace('<', '&lt;').replace('>', '&gt;')}</bdi>.`,
    )
    expect(done.body.split('Deleted <bdi>')[1]).not.toContain(`href="${pathOf(seed)}"`)
    expect((await owner.get(pathOf(seed))).statusCode).toBe(404)
    await owner.get(`${base}/seeds`)
    const restored = await owner.submit(`${pathOf(seed)}/restore`)
    expect(noticeOn(restored.body)).toBe('Restored.')
    expect((await viewer.get(pathOf(seed))).statusCode).toBe(200)
  })

  it('is offered to its creator, owners and admins, and refused once others have added to it', async () => {
    const other = await signInAs(website, await addPerson(website, company.workspace, 'member'))
    const seed = await createSeed(website, company.member, company)
    for (const [visitor, isOffered] of [
      [owner, true],
      [member, true],
      [other, false],
      [viewer, false],
    ] as const)
      expect((await visitor.get(pathOf(seed))).body.includes(`${pathOf(seed)}/delete`)).toBe(isOffered)
    await joinSeed(website, company.admin, seed)
    await member.get(pathOf(seed))
    const refused = await member.submit(`${pathOf(seed)}/delete`)
    expect(refused.statusCode).toBe(409)
    expect(refused.body).toContain('Ask an owner or an admin to delete it.')
    expect(await findSeed(website, seed)).toMatchObject({ deleted_at: null })
  })

  it('is undone later from the list of deleted seeds, by those who may', async () => {
    const title = `Later ${Date.now()}`
    const seed = await createSeed(website, company.member, company, { title })
    await member.get(pathOf(seed))
    await member.submit(`${pathOf(seed)}/delete`)
    expect((await member.get(`${base}/seeds`)).body).toContain(`href="${base}/seeds/deleted"`)
    expect((await viewer.get(`${base}/seeds`)).body).not.toContain(`${base}/seeds/deleted`)
    for (const visitor of [owner, member])
      expect((await visitor.get(`${base}/seeds/deleted`)).body).toContain(`<bdi>${title}</bdi>`)
    expect((await viewer.get(`${base}/seeds/deleted`)).body).toContain('No deleted seeds.')
    await owner.get(`${base}/seeds/deleted`)
    expect(noticeOn((await owner.submit(`${pathOf(seed)}/restore`)).body)).toBe('Restored.')
    expect((await member.get(`${base}/seeds/deleted`)).body).not.toContain(title)
    const events = await selectRows<{ type: string }>(
      db,
      sql`select type from events where seed_id = ${seed.id} order by position`,
    )
    expect(events.map(({ type }) => type)).toEqual(['seed.created', 'seed.deleted', 'seed.restored'])
  })
})
