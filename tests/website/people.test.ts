import { describe, expect, it } from 'vitest'
import { createId } from '../../src/kernel/ids.ts'
import { roles } from '../../src/domain/roles.ts'
import { hueOf } from '../../src/website/components/hues.ts'
import { addPerson, createCompany, createInvite, createTeam, post } from '../support/company.ts'
import { recordStatements } from '../support/record-statements.ts'
import { startTestApp } from '../support/test-app.ts'
import { addMember } from '../support/workspaces.ts'
import { signInAs, withoutLinks } from './visitor.ts'

const website = await startTestApp()

async function startCompany() {
  const company = await createCompany(website)
  return { ...company, people: `/w/${company.workspace.slug}/people` }
}

/** The links of a page whose text or label contains a text. */
const linkOf = (page: string, text: string) =>
  new RegExp(`<a[^>]*href="([^"]*)"[^>]*>\\s*${text}\\s*</a`).exec(page)?.[1]?.replaceAll('&amp;', '&') ?? ''

describe('the people page', () => {
  it.each(roles)(
    'shows %ss all members, and a way to the invited people only to those who may list invites',
    async (role) => {
      const company = await startCompany()
      const team = await createTeam(website, company.owner, company, 'Research')
      await website.as(company.owner, post(`${team.url}/members`, { userId: company.member.id }))
      const { email } = await createInvite(website, company.owner, company)
      const page = (await (await signInAs(website, company[role])).get(company.people)).body
      for (const { id, name } of [company.owner, company.admin, company.member, company.viewer]) {
        expect(page).toContain(name)
        expect(page).toContain(`href="${company.people}/${id}"`)
      }
      expect(page).toContain(`href="/w/${company.workspace.slug}/teams/${team.id}"`)
      const seesInvites = role === 'owner' || role === 'admin'
      expect(page).not.toContain(email)
      expect(page.includes('Invite people')).toBe(seesInvites)
      const none = (await (await signInAs(website, company[role])).get(`${company.people}?q=${email}`)).body
      expect(none.includes('are under <a')).toBe(seesInvites)
    },
  )

  it('returns 403 to non-members', async () => {
    const company = await startCompany()
    const visitor = await signInAs(website, await website.createPerson())
    for (const path of [company.people, `${company.people}/${company.member.id}`]) {
      const answer = await visitor.get(path)
      expect(answer.statusCode).toBe(403)
      expect(answer.body).not.toContain('Mary Member')
    }
  })

  it('can be searched by name and email address, and keeps the search text', async () => {
    const company = await startCompany()
    const visitor = await signInAs(website, company.viewer)
    for (const q of ['mary', company.member.email, 'MARY MEMBER']) {
      const page = (await visitor.get(`${company.people}?${new URLSearchParams({ q }).toString()}`)).body
      expect(page).toContain('Mary Member')
      expect(page).not.toContain('Adam Admin')
      expect(page).toContain(`value="${q}"`)
    }
    const none = (await visitor.get(`${company.people}?q=%22%3E%3Cb%3Enobody`)).body
    expect(none).toContain('Nobody matches')
    expect(none).toContain('&quot;&gt;&lt;b&gt;nobody')
    expect(none).not.toContain('<b>nobody')
  })

  it('can be filtered by role and team, together with a search, and keeps what was chosen', async () => {
    const company = await startCompany()
    const team = await createTeam(website, company.owner, company, 'Looms')
    for (const { id } of [company.admin, company.viewer])
      await website.as(company.owner, post(`${team.url}/members`, { userId: id }))
    const visitor = await signInAs(website, company.member)
    const namesAt = async (query: string) => {
      const page = (await visitor.get(`${company.people}?${query}`)).body
      return [...page.matchAll(/class="title" href="[^"]*"\s*><bdi>([^<]*)</g)].map(([, name]) => name)
    }
    expect(await namesAt('role=viewer')).toEqual(['Vera Viewer'])
    expect(visitor.page()).toMatch(/value="viewer"\s+selected/)
    expect(await namesAt(`team=${team.id}`)).toEqual(['Adam Admin', 'Vera Viewer'])
    expect(visitor.page()).toMatch(new RegExp(`value="${team.id}"\\s+selected`))
    expect(await namesAt(`team=${team.id}&role=admin&q=adam`)).toEqual(['Adam Admin'])
    expect(await namesAt(`team=${team.id}&role=owner`)).toEqual([])
    expect(visitor.page()).toContain('Nobody matches these filters.')
    // As if nothing was asked for.
    for (const query of ['role=guest', 'team=x', 'role=&team=&q='])
      expect(await namesAt(query)).toHaveLength(4)
  })

  it('links the next and previous page of 50 people, which keep the search', async () => {
    const company = await startCompany()
    const start = Date.now() + 60_000
    for (let i = 0; i < 120; i++) {
      const created = await website.createPerson({ name: `Robot ${String(i).padStart(3, '0')}` })
      await addMember(website, company.workspace, created, 'viewer', new Date(start + i * 1_000))
    }
    const visitor = await signInAs(website, company.owner)
    const namesOn = (page: string) => [...page.matchAll(/>(Robot \d+)</g)].map(([, name]) => name)
    const first = (await visitor.get(`${company.people}?q=robot`)).body
    const second = (await visitor.get(linkOf(first, 'Next'))).body
    const third = (await visitor.get(linkOf(second, 'Next'))).body
    expect([first, second, third].map((page) => namesOn(page).length)).toEqual([50, 50, 20])
    expect(namesOn(second)[0]).toBe('Robot 050')
    expect(linkOf(first, 'Previous') + linkOf(first, 'First page')).toBe('')
    expect(linkOf(third, 'Next')).toBe('')
    expect(namesOn((await visitor.get(linkOf(third, 'Previous'))).body)).toEqual(namesOn(second))
    expect(namesOn((await visitor.get(linkOf(second, 'First page'))).body)).toEqual(namesOn(first))

    // The cursor of a search belongs to no other search.
    const other = await visitor.get(linkOf(first, 'Next').replace('q=robot', 'q=mary'))
    expect(other.statusCode).toBe(200)
    expect(other.body).toContain('This is the first page.')
    expect(other.body).toContain('Mary Member')
  })

  it.each([
    'cursor=x',
    'cursor=%00',
    'cursor=a&cursor=b',
    'q=%00',
    'q=a&q=b',
    `q=${'x'.repeat(300)}`,
    'trail=..&cursor=x',
  ])('returns an HTML page for the query %s', async (query) => {
    const company = await startCompany()
    const answer = await (await signInAs(website, company.member)).get(`${company.people}?${query}`)
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['content-type']).toContain('text/html')
  })

  it('resolves the workspace and the role once, and runs at most four statements, or five for one person', async () => {
    const company = await startCompany()
    const visitor = await signInAs(website, company.owner)
    for (const [path, most] of [
      // The session, the workspace with its details, and two of the page's own.
      [company.people, 4],
      // And the seeds of the person.
      [`${company.people}/${company.member.id}`, 5],
    ] as const) {
      const { texts } = await recordStatements(() => visitor.get(path))
      expect(texts.filter((text) => text.includes('"workspace_slugs"'))).toHaveLength(1)
      expect(texts.length).toBeLessThanOrEqual(most)
    }
  })
})

describe('the page of a person', () => {
  it('shows name, role, teams and activity, except what the reader may not see', async () => {
    const company = await startCompany()
    const team = await createTeam(website, company.admin, company, 'Research')
    await website.as(company.admin, post(`${team.url}/members`, { userId: company.admin.id }))
    const { email } = await createInvite(website, company.admin, company)
    const path = `${company.people}/${company.admin.id}`
    const page = (await (await signInAs(website, company.member)).get(path)).body
    expect(page).toContain('<h1><bdi>Adam Admin</bdi></h1>')
    expect(page).toContain(company.admin.email)
    expect(page).toContain('>Admin</span>')
    expect(page).toContain(`href="/w/${company.workspace.slug}/teams/${team.id}"`)
    expect(withoutLinks(page)).toContain('Adam Admin created the team Research')
    expect(page).toContain(`/activity?actor=${company.admin.id}`)
    expect(page).not.toContain(email)
    expect(page).not.toContain('Change role')
    const own = (await (await signInAs(website, company.admin)).get(path)).body
    expect(own).toContain(email)
    expect(own).toContain('Edit your profile')
    expect((await (await signInAs(website, company.owner)).get(path)).body).toContain('Change role')
  })

  it('escapes names, and isolates their text direction', async () => {
    const company = await startCompany()
    const name = '<script>alert(1)</script> "عمر" 👩‍🚀'
    const person = await addPerson(website, company.workspace, 'member', name)
    const visitor = await signInAs(website, company.viewer)
    for (const path of [
      company.people,
      `${company.people}/${person.id}`,
      `/w/${company.workspace.slug}/activity`,
    ]) {
      const { body } = await visitor.get(path)
      expect(body).not.toContain('<script>alert')
    }
    const { body } = await visitor.get(`${company.people}/${person.id}`)
    expect(body).toContain('<bdi>&lt;script&gt;alert(1)&lt;/script&gt; &quot;عمر&quot; 👩‍🚀</bdi>')
  })

  it('returns 404 for non-members, former members and invalid ids', async () => {
    const company = await startCompany()
    const stranger = await website.createPerson()
    const elsewhere = await startCompany()
    const visitor = await signInAs(website, company.owner)
    for (const id of [
      stranger.id,
      elsewhere.member.id,
      createId(),
      'x',
      '%00',
      company.member.id.toUpperCase(),
    ]) {
      const answer = await visitor.get(`${company.people}/${id}`)
      expect(answer.statusCode, id).toBe(404)
      expect(answer.headers['content-type']).toContain('text/html')
    }
    const removed = await website.as(company.owner, {
      method: 'DELETE',
      url: `${company.url}/members/${company.member.id}`,
    })
    expect(removed.statusCode).toBe(200)
    expect((await visitor.get(`${company.people}/${company.member.id}`)).statusCode).toBe(404)
  })
})

describe('the page of a team', () => {
  it('offers managers of a small workspace everybody who is not in it, themselves first when it is empty', async () => {
    const company = await startCompany()
    const team = await createTeam(website, company.owner, company, 'Looms')
    const path = `/w/${company.workspace.slug}/teams/${team.id}`
    const owner = await signInAs(website, company.owner)
    const empty = (await owner.get(path)).body
    expect(empty).toContain('No members yet.')
    expect(empty).toContain('Add yourself')
    expect(empty.match(/name="userId"/g)).toHaveLength(5)
    const joined = await owner.submit(`${path}/members`, { userId: company.owner.id })
    expect(joined.body).toContain('You joined the team.')
    expect(joined.body).not.toContain('Add yourself')
    expect(joined.body.match(/name="userId"/g)).toHaveLength(3)
    const viewed = (await (await signInAs(website, company.viewer)).get(path)).body
    expect(viewed).not.toContain('Add people')
    expect(viewed).not.toContain('Add yourself')
  })

  it('offers only a search in a workspace of more than 50 members', async () => {
    const company = await startCompany()
    const team = await createTeam(website, company.owner, company, 'Looms')
    for (let i = 0; i < 47; i++) await addPerson(website, company.workspace, 'viewer')
    const owner = await signInAs(website, company.owner)
    const { body } = await owner.get(`/w/${company.workspace.slug}/teams/${team.id}`)
    expect(body).not.toContain('Add people')
    expect(body).toContain('Add yourself')
  })
})

describe('pictures', () => {
  it('of people are round, of workspaces square, in the color of their id on every page', async () => {
    const company = await startCompany()
    const visitor = await signInAs(website, company.viewer)
    const base = `/w/${company.workspace.slug}`
    const face = `class="picture round s40 hue-${hueOf(company.member.id)}" aria-hidden="true">M<`
    const icon = `class="picture square s28 hue-${hueOf(company.workspace.id)}" aria-hidden="true">A<`
    const people = (await visitor.get(`${base}/people`)).body
    expect(people).toContain(face)
    expect(people).toContain(icon)
    expect((await visitor.get(base)).body).toContain(face.replace('s40', 's28'))
    expect((await visitor.get('/onboarding')).body).toContain(icon.replace('s28', 's40'))
  })
})
