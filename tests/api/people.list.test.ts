import { randomInt } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import { addPerson, createCompany, createInvite, createTeam, get, post } from '../support/company.ts'
import { countQueries } from '../support/count-queries.ts'
import { anyIssues, expectError, issuesOf } from '../support/expect-error.ts'
import { startTestApp } from '../support/test-app.ts'
import { addMember, createWorkspace, randomSlug } from '../support/workspaces.ts'

const service = await startTestApp()
const { app, as, createPerson, db } = service

describe('200', () => {
  it('returns members with their teams to all members, and invited people to owners and admins', async () => {
    const company = await createCompany(service)
    const { url, owner, admin, member, viewer } = company
    await db.execute(sql`update users set image_key = 'photo.webp' where id = ${member.id}`)
    const [zulu, alpha] = [
      await createTeam(service, owner, company, 'Zulu'),
      await createTeam(service, owner, company, 'Alpha'),
    ]
    for (const team of [alpha, zulu]) await as(owner, post(`${team.url}/members`, { userId: member.id }))
    await as(owner, post(`${alpha.url}/members`, { userId: viewer.id }))
    const invite = await createInvite(service, owner, company, { role: 'viewer' })
    const members = [
      { person: owner, role: 'owner', image: null, teams: [] },
      { person: admin, role: 'admin', image: null, teams: [] },
      {
        person: member,
        role: 'member',
        image: 'http://localhost:3000/pictures/photo.webp',
        teams: [zulu, alpha],
      },
      { person: viewer, role: 'viewer', image: null, teams: [alpha] },
    ].map(({ person: { id, name, email }, role, image, teams }) => ({
      id,
      kind: 'member',
      userId: id,
      name,
      email,
      image,
      role,
      // Recorded a moment after what the person did.
      suspended: false,
      lastActivityAt: expect.toBeOneOf([null, expect.any(String)]) as unknown,
      teams: teams.map((team) => ({ id: team.id, name: team.name })),
    }))
    const invited = {
      id: invite.id,
      kind: 'invited',
      userId: null,
      name: invite.email,
      email: invite.email,
      image: null,
      role: 'viewer',
      suspended: false,
      lastActivityAt: null,
      teams: [],
    }
    for (const person of [owner, admin])
      expect((await as(person, get(`${url}/people`))).json()).toEqual([...members, invited])
    for (const person of [member, viewer])
      expect((await as(person, get(`${url}/people`))).json()).toEqual(members)
  })

  it('filters by kind, role and team, together and with a search', async () => {
    const company = await createCompany(service)
    const { url, owner, admin, member, viewer } = company
    const team = await createTeam(service, owner, company)
    for (const { id } of [admin, viewer]) await as(owner, post(`${team.url}/members`, { userId: id }))
    const invite = await createInvite(service, owner, company, { role: 'viewer' })
    const idsOf = async (reader: typeof owner, query: string) =>
      (await as(reader, get(`${url}/people?${query}`))).json<{ id: string }[]>().map(({ id }) => id)
    const everybody = [owner, admin, member, viewer].map(({ id }) => id)
    expect(await idsOf(owner, 'kind=member')).toEqual(everybody)
    expect(await idsOf(owner, 'kind=invited')).toEqual([invite.id])
    expect(await idsOf(member, 'kind=invited')).toEqual([])
    expect(await idsOf(owner, 'role=viewer')).toEqual([viewer.id, invite.id])
    expect(await idsOf(owner, 'role=viewer&kind=member')).toEqual([viewer.id])
    expect(await idsOf(owner, 'role=viewer&kind=invited')).toEqual([invite.id])
    expect(await idsOf(owner, `teamId=${team.id}`)).toEqual([admin.id, viewer.id])
    expect(await idsOf(owner, `teamId=${team.id}&role=viewer&q=vera`)).toEqual([viewer.id])
    expect(await idsOf(owner, `teamId=${team.id}&q=mary`)).toEqual([])
    for (const teamId of ['x', '%00', '', createId()])
      expect(await idsOf(owner, `teamId=${teamId}`), teamId).toEqual([])
  })

  it('finds nobody by a team of another workspace, which has the same people in it', async () => {
    const [company, other] = [await createCompany(service), await createCompany(service)]
    await addMember(service, other.workspace, company.member, 'member')
    const team = await createTeam(service, other.owner, other)
    await as(other.owner, post(`${team.url}/members`, { userId: company.member.id }))
    expect((await as(company.owner, get(`${company.url}/people?teamId=${team.id}`))).json()).toEqual([])
  })

  it('refuses the cursor of another filter', async () => {
    const company = await createCompany(service)
    const { headers } = await as(company.owner, get(`${company.url}/people?kind=member&limit=1`))
    const next = /<http:\/\/localhost:3000([^>]+)>/.exec(String(headers.link))?.[1] ?? ''
    expect((await as(company.owner, get(next))).statusCode).toBe(200)
    const answer = await as(company.owner, get(next.replace('kind=member', 'role=viewer')))
    expectError(answer, errors.cursorInvalid, { field: 'cursor' })
  })

  it('omits invites that have expired, were accepted or were revoked', async () => {
    const company = await createCompany(service)
    const { url, owner } = company
    const person = await createPerson()
    const expired = await createInvite(service, owner, company)
    await db.execute(
      sql`update invites set expires_at = ${new Date().toISOString()} where id = ${expired.id}`,
    )
    const accepted = await createInvite(service, owner, company, { email: person.email })
    await as(person, post(`/v1/invites/${accepted.token}/accept`))
    const revoked = await createInvite(service, owner, company)
    await as(owner, post(`${url}/invites/${revoked.id}/revoke`))
    const people = (await as(owner, get(`${url}/people`))).json<{ kind: string; email: string }[]>()
    expect(people).toHaveLength(5)
    expect(people.filter(({ kind }) => kind === 'invited')).toEqual([])
    expect(people.filter(({ email }) => email === person.email)).toHaveLength(1)
  })

  it('runs three queries for an owner and two for a viewer, whatever the search', async () => {
    const company = await createCompany(service)
    const { url, owner, viewer } = company
    await createTeam(service, owner, company)
    await createInvite(service, owner, company)
    // The first use within a minute is noted, too.
    await as(viewer, get(url))
    for (const query of ['', '?q=example', '?q=a']) {
      expect(await countQueries(() => as(owner, get(`${url}/people${query}`)))).toBe(3)
      expect(await countQueries(() => as(viewer, get(`${url}/people${query}`)))).toBe(2)
    }
  })
})

describe('a search', async () => {
  // Without letters and zeros: each word of an address is searched, also by its first letter, and for 100.
  const randomDomain = () => `9${String(randomInt(1e8)).replaceAll('0', '2')}.example`
  const owner = await createPerson({ name: 'Search Owner', email: `owner@${randomDomain()}` })
  const workspace = await createWorkspace(service, owner)
  const url = `/v1/workspaces/${workspace.slug}`
  for (const [i, [name, local]] of (
    [
      ['Élodie Dupont', 'elo'],
      ['Ángel 100%', 'angel_100'],
      ['Jean-Luc Picard', 'JLP'],
      ['山田 太郎', 'yamada'],
      ['Bob \\ Backslash', 'bob'],
      ['ANNA Ö', 'anna.o'],
      ['İpek ΟΔΟΣ', 'ipek'],
    ] as const
  ).entries()) {
    const person = await createPerson({ name, email: `${local}@${randomDomain()}` })
    await addMember(service, workspace, person, 'viewer', new Date(Date.now() + i * 1_000))
  }
  await createInvite(service, owner, { url }, { email: 'Elodie.Invited@elsewhere.example' })
  // Somebody who is found by all of it, and not here.
  await createPerson({ name: 'Élodie Ángel Jean-Luc 山田 Bob ANNA', email: 'elo@not-here.example' })

  const search = async (q: string) => {
    const answer = await as(owner, get(`${url}/people?q=${encodeURIComponent(q)}`))
    expect(answer.statusCode, answer.body).toBe(200)
    return answer.json<{ name: string }[]>().map(({ name }) => name.split(' ')[0])
  }

  it.each([
    ['part of a name', 'lodi', ['Élodie', 'Elodie.Invited@elsewhere.example']],
    ['a name in another case', 'éLODIE', ['Élodie', 'Elodie.Invited@elsewhere.example']],
    ['a name without its accents', 'angel', ['Ángel']],
    ['the words of a name in another order', 'picard jean', ['Jean-Luc']],
    ['nobody by a mistake in a name', 'picrad', []],
    ['nobody by words in quotes that do not follow each other', '"picard jean"', []],
    [
      'a name in another Unicode normalization form',
      'E\u0301lodie',
      ['Élodie', 'Elodie.Invited@elsewhere.example'],
    ],
    ['parts of two words of a name', 'Luc Pic', ['Jean-Luc']],
    ['a name with spaces around it', '  picard ', ['Jean-Luc']],
    ['part of an address', 'gel_1', ['Ángel']],
    ['an address in another case', 'JLP@', ['Jean-Luc']],
    ['a literal percent sign', '100%', ['Ángel']],
    ['a literal underscore', 'l_100', ['Ángel']],
    ['a literal backslash', 'b \\ b', ['Bob']],
    ['two letters of another script', '山田', ['山田']],
    ['three letters of another script', '山田 ', ['山田']],
    ['a letter whose lower case differs between JavaScript and PostgreSQL', 'İpe', ['İpek']],
    ['a letter whose lower case depends on its position', 'ΟΔΟΣ', ['İpek']],
    ['no one by a text that nobody has', 'nobody', []],
    ['no one by a quote', `'`, []],
    ['no one by three percent signs', '%%%', []],
    ['no one by one percent sign', '%', []],
    ['no one by one underscore', '_', []],
  ])('matches %s', async (_name, q, expected) => {
    expect(await search(q)).toEqual(expected)
  })

  it('matches one or two characters only at the beginning of words', async () => {
    expect(await search('b')).toEqual(['Bob'])
    expect(await search('ba')).toEqual(['Bob'])
    expect(await search('ob')).toEqual([])
    expect(await search('ö')).toEqual(['Search', 'ANNA'])
    expect(await search('太')).toEqual(['山田'])
  })

  it('returns everyone for an empty search text', async () => {
    for (const q of ['', ' ', '\u3000']) expect(await search(q)).toHaveLength(9)
  })

  it('returns invited people to owners and admins only', async () => {
    const [admin, member, viewer] = [
      await addPerson(service, workspace, 'admin', 'Adam'),
      await addPerson(service, workspace, 'member', 'Mary'),
      await addPerson(service, workspace, 'viewer', 'Vera'),
    ]
    // By an address, by words of it, and by the middle of one.
    for (const q of ['elodie.invited@elsewhere.example', 'elsewhere invited', 'sewher']) {
      const count = async (person: { apiKey: string }) =>
        (await as(person, get(`${url}/people?q=${encodeURIComponent(q)}`))).json<unknown[]>().length
      expect([await count(owner), await count(admin), await count(member), await count(viewer)], q).toEqual([
        1, 1, 0, 0,
      ])
    }
  })
})

describe('400', () => {
  it.each([
    ['q', 'x'.repeat(101)],
    ['q', 'a\0b'],
    ['q', 'a\u001bb'],
  ])('returns 400 for the query parameter %s with the value %j', async (name, value) => {
    const { url, owner } = await createCompany(service)
    const answer = await as(owner, get(`${url}/people?${name}=${encodeURIComponent(value)}`))
    expectError(answer, errors.decodeError, { issues: anyIssues })
    expect(issuesOf(answer)).toEqual([{ _tag: 'Refinement', path: [name] }])
  })
})

describe('401, 403 and 404', () => {
  it('returns 401 without a key, 403 to a stranger, and 404 for an unknown workspace', async () => {
    const { url } = await createCompany(service)
    const stranger = await createPerson()
    expectError(await app.inject(`${url}/people`), errors.apiKeyRequired)
    expectError(await as(stranger, get(`${url}/people`)), errors.notAMember)
    expectError(await as(stranger, get(`/v1/workspaces/${randomSlug()}/people`)), errors.notFound)
  })
})
