import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createId } from '../../src/kernel/ids.ts'
import { createKey, noRestrictions } from '../support/api-keys.ts'
import {
  addPerson,
  createCompany,
  createTeam,
  del,
  get,
  patch,
  type TestCompany,
} from '../support/company.ts'
import { anyIssues, expectError } from '../support/expect-error.ts'
import { insertComment } from '../support/notifications.ts'
import { addEvidence, createLabel, createSeed, joinSeed } from '../support/seeds.ts'
import { startTestApp, type TestPerson } from '../support/test-app.ts'
import { createWorkspace } from '../support/workspaces.ts'

const service = await startTestApp()
const { as, db } = service
const company = await createCompany(service)
const { owner, member, url, workspace } = company

interface Found {
  kind: string
  id: string
  title: string
  excerpt: string | null
  seedId: string | null
  seedStatus: string | null
  path: string
}

async function search(q: string, query = '', { person = owner, of = url } = {}): Promise<Found[]> {
  const answer = await as(person, get(`${of}/search?q=${encodeURIComponent(q)}${query}`))
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json()
}

const titlesOf = async (...question: Parameters<typeof search>) =>
  (await search(...question)).map(({ title }) => title)

async function countsOf(q: string): Promise<Record<string, number>> {
  const answer = await as(owner, get(`${url}/search/counts?q=${encodeURIComponent(q)}`))
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json()
}

async function createJoined(title: string, fields: object = {}) {
  const seed = await createSeed(service, member, company, { title, ...fields })
  await joinSeed(service, member, seed)
  return seed
}

/** Adds teams of this name with numbers, some of them at one moment. The first is the newest. */
async function addTeams(name: string, count: number): Promise<void> {
  const ids = Array.from({ length: count }, () => createId())
  await db.execute(sql`
    insert into teams (id, workspace_id, name, created_at)
    select id, ${workspace.id}, ${name} || ' ' || place, now() - (place / 2) * interval '1 second'
    from unnest(array[${sql.join(
      ids.map((id) => sql`${id}::uuid`),
      sql`, `,
    )}]) with ordinality as made (id, place)`)
}

describe('200', () => {
  it('finds seeds, evidence, comments, members and teams, with where they are', async () => {
    const seed = await createJoined('Quokka rental')
    const evidence = await addEvidence(service, member, seed, { summary: 'Nine of ten want a quokka' })
    const commentId = await insertComment(service, {
      seedId: seed.id,
      author: member,
      body: `A quokka? [@](user:${owner.id}) knows`,
    })
    const person = await addPerson(service, workspace, 'viewer', 'Quokka Keeper')
    const team = await createTeam(service, owner, company, 'Quokka team')
    const base = `/w/${workspace.slug}`
    const expected: Found[] = [
      {
        kind: 'seed',
        id: seed.id,
        title: 'Quokka rental',
        excerpt: 'A day of none',
        seedId: seed.id,
        seedStatus: 'open',
        path: `${base}/seeds/${seed.id}`,
      },
      {
        kind: 'evidence',
        id: evidence.id,
        title: 'Quokka rental',
        excerpt: 'Nine of ten want a quokka',
        seedId: seed.id,
        seedStatus: 'open',
        path: `${base}/seeds/${seed.id}#evidence-${evidence.id}`,
      },
      {
        kind: 'comment',
        id: commentId,
        title: 'Quokka rental',
        excerpt: 'A quokka? @… knows',
        seedId: seed.id,
        seedStatus: 'open',
        path: `${base}/seeds/${seed.id}#comment-${commentId}`,
      },
      {
        kind: 'person',
        id: person.id,
        title: 'Quokka Keeper',
        excerpt: person.email,
        seedId: null,
        seedStatus: null,
        path: `${base}/people/${person.id}`,
      },
      {
        kind: 'team',
        id: team.id,
        title: 'Quokka team',
        excerpt: null,
        seedId: null,
        seedStatus: null,
        path: `${base}/teams/${team.id}`,
      },
    ]
    const byKind = (found: Found[]) => found.toSorted((one, other) => one.kind.localeCompare(other.kind))
    expect(byKind(await search('quokka'))).toEqual(byKind(expected))
    expect(await countsOf('quokka')).toEqual({ seeds: 1, evidence: 1, comments: 1, people: 1, teams: 1 })
    expect((await search('quokka', '&kinds=team,evidence')).map(({ kind }) => kind)).toEqual([
      'team',
      'evidence',
    ])
  })

  it('puts words of titles before words of texts, whole words before beginnings, and then the newest first', async () => {
    const [text, begun, whole, newer, beginning] = [
      await createJoined('One', { summary: 'About a zebrafish' }),
      await createJoined('Zebrafishes'),
      await createJoined('A zebrafish'),
      await createJoined('Zebrafish again'),
      await createJoined('Two', { problem: 'Zebrafishing' }),
    ]
    expect((await search('zebrafish')).map(({ id }) => id)).toEqual([
      newer.id,
      whole.id,
      begun.id,
      text.id,
      beginning.id,
    ])
  })

  it('ignores case and accents, and asks for all words', async () => {
    const seed = await createJoined('Café ZÜRICH', {
      summary: 'Łódź, Straße, Ångström, naïve',
      audience: 'Бабушка',
    })
    for (const q of [
      'cafe zurich',
      'CAFÉ',
      'Zürich café',
      'lodz',
      'strasse',
      'STRASSE',
      'angstrom',
      'naive',
      'бабушка',
      'cafe angstr',
      ' café ',
    ])
      expect(await titlesOf(q, '&kinds=seed'), q).toEqual([seed.title])
    for (const q of ['cafe bern', 'urich', 'afe']) expect(await titlesOf(q, '&kinds=seed'), q).toEqual([])
  })

  it('finds words between signs, and takes no sign for an operator', async () => {
    const seed = await createJoined("Ada's e-mail: mail@hamster.example/path_to (50%) & more")
    for (const q of [
      'hamster',
      'ada',
      'mail path to',
      '50',
      "ada's",
      'hamster & more',
      'hamster | nothing:* path',
    ])
      expect(await titlesOf(q, '&kinds=seed'), q).toEqual(q.includes('nothing') ? [] : [seed.title])
    for (const q of ['%', '_', '&', "'", '\\', '():*!<->', '"']) expect(await search(q), q).toEqual([])
    expect(await countsOf("':*")).toEqual({ seeds: 0, evidence: 0, comments: 0, people: 0, teams: 0 })
  })

  it('follows changes: edits, withdrawn evidence, deleted and restored seeds, names, and who leaves', async () => {
    const seed = await createJoined('Axolotl', { summary: 'First' })
    const evidence = await addEvidence(service, member, seed, { summary: 'It has axolotls' })
    const kinds = async (q: string) => (await search(q)).map(({ kind }) => kind)
    expect(await kinds('axolotl')).toEqual(['seed', 'evidence'])
    await as(member, patch(`/v1/seeds/${seed.id}`, { title: 'Salamander' }))
    expect(await kinds('axolotl')).toEqual(['evidence'])
    expect(await kinds('salamander')).toEqual(['seed'])
    await db.execute(sql`update evidence set withdrawn_at = now() where id = ${evidence.id}`)
    expect(await kinds('axolotl')).toEqual([])
    await db.execute(sql`update evidence set withdrawn_at = null where id = ${evidence.id}`)
    const commentId = await insertComment(service, { seedId: seed.id, author: member, body: 'Salamanders!' })
    await db.execute(sql`update seeds set deleted_at = now() where id = ${seed.id}`)
    expect(await kinds('axolotl')).toEqual([])
    expect(await kinds('salamander')).toEqual([])
    await db.execute(sql`update seeds set deleted_at = null where id = ${seed.id}`)
    expect(await kinds('axolotl')).toEqual(['evidence'])
    expect(await kinds('salamander')).toEqual(['seed', 'comment'])
    await db.execute(sql`delete from comments where id = ${commentId}`)
    await db.execute(sql`delete from seeds where id = ${seed.id}`)
    expect(await kinds('salamander')).toEqual([])
    expect(await kinds('axolotl')).toEqual([])

    const person = await addPerson(service, workspace, 'viewer', 'Wombat Former')
    await as(person, patch('/v1/me', { name: 'Wombat Present' }))
    expect(await titlesOf('wombat')).toEqual(['Wombat Present'])
    expect(await titlesOf('former')).toEqual([])
    expect(await titlesOf(person.email.slice(0, 13))).toEqual(['Wombat Present'])
    await as(owner, del(`${url}/members/${person.id}`))
    expect(await titlesOf('wombat')).toEqual([])
    const team = await createTeam(service, owner, company, 'Numbat')
    await as(owner, patch(team.url, { name: 'Bilby' }))
    expect(await titlesOf('numbat')).toEqual([])
    expect(await titlesOf('bilby')).toEqual(['Bilby'])
    await as(owner, del(team.url))
    expect(await titlesOf('bilby')).toEqual([])
  })

  it('shows the part of a long text that was found', async () => {
    const filler = 'lorem ipsum '.repeat(30)
    await createJoined('Long', { summary: `${filler}a pangolin ${filler}`.trim() })
    const [found] = await search('pangolin')
    expect(found?.excerpt).toContain('a pangolin')
    expect(found?.excerpt).toMatch(/^….*…$/)
    expect(found?.excerpt?.length).toBeLessThanOrEqual(162)
  })

  it('finds nothing of other workspaces, and the same person in each of theirs', async () => {
    const other = await createCompany(service)
    await createSeed(service, other.owner, other, { title: 'Secret numbat' })
    expect(await search('numbat')).toEqual([])
    expect(await titlesOf('numbat', '', { person: other.owner, of: other.url })).toEqual(['Secret numbat'])
    const own = await createWorkspace(service, owner)
    const of = `/v1/workspaces/${own.slug}`
    expect(await titlesOf('olga owner', '', { of })).toEqual(['Olga Owner'])
  })

  it('reads all pages without repeating or losing any, and reports more than 1,000 matches as 1,000', async () => {
    await addTeams('Platypus', 45)
    const seen: string[] = []
    let next: string | undefined = `${url}/search?q=platypus&limit=10`
    while (next !== undefined) {
      const answer = await as(owner, get(next))
      expect(answer.statusCode, answer.body).toBe(200)
      seen.push(...answer.json<Found[]>().map(({ id }) => id))
      const link = /<([^>]+)>/.exec(String(answer.headers.link ?? ''))?.[1]
      next = link === undefined ? undefined : new URL(link).pathname + new URL(link).search
    }
    expect(new Set(seen).size).toBe(45)
    expect(seen).toHaveLength(45)
    expect(await countsOf('platypus')).toMatchObject({ teams: 45 })
    await addTeams('Echidna', 1100)
    expect(await countsOf('echidna')).toMatchObject({ teams: 1000 })
    expect(await titlesOf('echidna', '&limit=1')).toEqual(['Echidna 1'])
  })

  it('filters by the team, the label, the status and the lead of seeds, which their evidence and comments follow', async () => {
    const team = await createTeam(service, owner, company, 'Xylophone team')
    const label = await createLabel(service, owner, company, 'Xylophones')
    const seed = await createJoined('Xylophones to rent')
    const other = await createJoined('Xylophones to buy')
    for (const of of [seed, other]) {
      await addEvidence(service, member, of, { summary: 'A xylophone was seen' })
      await insertComment(service, { seedId: of.id, author: member, body: 'Which xylophone?' })
    }
    await joinSeed(service, owner, seed)
    const changed = { teamId: team.id, labelIds: [label.id], status: 'validating', leadUserId: owner.id }
    expect((await as(owner, patch(`/v1/seeds/${seed.id}`, changed))).statusCode).toBe(200)
    expect((await as(owner, patch(`/v1/seeds/${other.id}`, { leadUserId: null }))).statusCode).toBe(200)
    const read = async (query: string, person = owner) =>
      (await search('xylophone', query, { person })).map(({ kind, seedId }) => ({ kind, seedId }))
    const allOf = ({ id }: { id: string }) =>
      ['comment', 'evidence', 'seed'].map((kind) => ({ kind, seedId: id }))
    const sorted = async (...question: Parameters<typeof read>) =>
      (await read(...question)).toSorted((a, b) => a.kind.localeCompare(b.kind))
    expect(await read('')).toHaveLength(7)
    for (const query of [
      `&teamId=${team.id}`,
      `&labelId=${label.id}`,
      '&status=validating',
      `&leadUserId=${owner.id}`,
      '&leadUserId=me',
      `&teamId=${team.id}&labelId=${label.id}&status=validating&leadUserId=${owner.id}`,
    ])
      expect(await sorted(query), query).toEqual(allOf(seed))
    expect(await read('&leadUserId=me', member)).toEqual([])
    expect(await sorted('&leadUserId=none')).toEqual(allOf(other))
    expect(await sorted('&status=open')).toEqual(allOf(other))
    // Also by when they are due, and by what their evidence says.
    for (const query of ['&due=overdue', '&due=week', '&due=silent', '&balance=against'])
      expect(await read(query), query).toEqual([])
    expect(await sorted('&balance=for&leadUserId=me')).toEqual(allOf(seed))
    await db.execute(
      sql`update seeds set decide_by = '2020-02-29', supports_count = 0 where id = ${other.id}`,
    )
    await db.execute(
      sql`update seeds set last_evidence_at = '2020-02-29', contradicts_count = 2 where id = ${seed.id}`,
    )
    for (const query of ['&due=overdue', '&balance=none'])
      expect(await sorted(query), query).toEqual(allOf(other))
    for (const query of ['&due=silent', '&balance=against', `&due=silent&balance=against&teamId=${team.id}`])
      expect(await sorted(query), query).toEqual(allOf(seed))
    await db.execute(
      sql`update seeds set decide_by = current_date + 1, neutral_count = 1 where id = ${other.id}`,
    )
    for (const query of ['&due=week', '&balance=even'])
      expect(await sorted(query), query).toEqual(allOf(other))
    await db.execute(sql`update seeds set status = 'dropped' where id in (${seed.id}, ${other.id})`)
    for (const query of ['&due=week', '&due=silent']) expect(await read(query), query).toEqual([])
    await db.execute(sql`update seeds set status = 'validating' where id = ${seed.id}`)
    expect(await read(`&teamId=${team.id}&kinds=evidence,team`)).toEqual([
      { kind: 'evidence', seedId: seed.id },
    ])
    const foreign = await createCompany(service)
    const foreignTeam = await createTeam(service, foreign.owner, foreign)
    for (const query of [
      `&teamId=${team.id}&status=open`,
      `&teamId=${foreignTeam.id}`,
      `&labelId=${createId()}`,
      '&teamId=x',
      '&leadUserId=nobody',
      `&teamId=${team.id}&kinds=team`,
    ])
      expect(await read(query), query).toEqual([])
    // What is similar, too.
    expect(await titlesOf('xylophonez', `&match=similar&teamId=${team.id}`)).toEqual(['Xylophones to rent'])
    const first = await as(owner, get(`${url}/search?q=xylophone&teamId=${team.id}&limit=2`))
    const next = /<[^>]*?(\/v1[^>]+)>/.exec(String(first.headers.link))?.[1] ?? ''
    expect((await as(owner, get(next))).json()).toHaveLength(1)
    expectError(await as(owner, get(next.replace('teamId', 'labelId'))), errors.cursorInvalid, {
      field: 'cursor',
    })
    expect((await as(owner, del(team.url))).statusCode).toBe(200)
    expect(await read(`&teamId=${team.id}`)).toEqual([])
  })

  it('works for a key that is bound to the workspace', async () => {
    const key = await createKey(service, owner, { ...noRestrictions, workspaceIds: [workspace.id] })
    expect(await titlesOf('vera', '', { person: { apiKey: key.secret } as TestPerson })).toEqual([
      'Vera Viewer',
    ])
  })
})

describe('400', () => {
  it.each([
    '',
    '?q=',
    '?q=a&kinds=',
    '?q=a&kinds=seeds',
    '?q=a&kinds=seed,',
    `?q=${'a'.repeat(101)}`,
    '?q=%00',
    '?q=a&of=b',
  ])('returns 400 for %j', async (query) => {
    expectError(await as(owner, get(`${url}/search${query}`)), errors.decodeError, { issues: anyIssues })
  })

  it('returns 400 for counts without a text', async () => {
    expectError(await as(owner, get(`${url}/search/counts`)), errors.decodeError, { issues: anyIssues })
  })

  it('returns 400 for the cursor of another search', async () => {
    const { headers } = await as(owner, get(`${url}/search?q=a&limit=1`))
    const cursor = /cursor=([\w-]+)/.exec(String(headers.link))?.[1]
    for (const query of ['q=b', 'q=a&kinds=person'])
      expectError(await as(owner, get(`${url}/search?${query}&cursor=${cursor}`)), errors.cursorInvalid, {
        field: 'cursor',
      })
  })
})

describe('401, 403, 404', () => {
  const paths = (of: Pick<TestCompany, 'url'>) => [`${of.url}/search?q=a`, `${of.url}/search/counts?q=a`]

  it('returns 401 without a key', async () => {
    for (const path of paths(company)) expectError(await service.app.inject(path), errors.apiKeyRequired)
  })

  it('returns 403 to a stranger and to a former member', async () => {
    const stranger = await service.createPerson()
    const former = await addPerson(service, workspace, 'member')
    await as(owner, del(`${url}/members/${former.id}`))
    for (const person of [stranger, former])
      for (const path of paths(company)) expectError(await as(person, get(path)), errors.notAMember)
  })

  it('returns 403 for a key that is bound to another workspace', async () => {
    const other = await createWorkspace(service, owner)
    const key = await createKey(service, owner, { ...noRestrictions, workspaceIds: [other.id] })
    for (const path of paths(company))
      expectError(await as({ apiKey: key.secret }, get(path)), errors.keyNotForWorkspace)
  })

  it('returns 404 for a workspace that does not exist', async () => {
    for (const path of paths({ url: '/v1/workspaces/no-such-place' }))
      expectError(await as(owner, get(path)), errors.notFound)
  })
})
