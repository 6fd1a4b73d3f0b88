import { describe, expect, it } from 'vitest'
import { seedColumns } from '../../src/areas/seeds/tables/seed-columns.ts'
import { readCsv } from '../../src/areas/seeds/tables/read-csv.ts'
import { errors } from '../../src/kernel/errors.ts'
import { createKey } from '../support/api-keys.ts'
import { createCompany, get, patch, post, type TestCompany } from '../support/company.ts'
import { expectError } from '../support/expect-error.ts'
import { beginImport, makeTable, runSlice } from '../support/seed-imports.ts'
import { addEvidence, createSeed, type TestSeed } from '../support/seeds.ts'
import { startTestApp, type TestPerson } from '../support/test-app.ts'

const service = await startTestApp()
const { as } = service

const exportOf = ({ url }: TestCompany, person: TestPerson, query = '') =>
  as(person, get(`${url}/seeds/export${query}`))

const rowsOf = async (content: string) => {
  const { headers, rows } = await readCsv(Buffer.from(content))
  return rows.map(({ cells }) => Object.fromEntries(headers.map((name, i) => [name, cells[i]])))
}

const hostile = {
  title: '=HYPERLINK("https://evil.example")',
  summary: '+1, "quoted"\n-2; @x\n＝全角',
  problem: '＠SUM(A1)',
  audience: "'=already",
  hypothesis: '人材 مرحبا 👩‍👩‍👧',
  successCriteria: ['-5 percent', '=A1', 'Ten; do'],
  question: '@all?',
  decideBy: '2027-01-31',
}

describe('seeds', () => {
  it('are a table in UTF-8 with a byte order mark, without formulas, to be saved', async () => {
    const company = await createCompany(service)
    await createSeed(service, company.owner, company, hostile)
    const answer = await exportOf(company, company.viewer)
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['content-type']).toBe('text/csv; charset=utf-8')
    expect(answer.headers['content-disposition']).toMatch(
      new RegExp(`^attachment; filename="${company.workspace.slug}-seeds-\\d{4}-\\d\\d-\\d\\d\\.csv"$`),
    )
    expect([...answer.rawPayload.subarray(0, 3)]).toEqual([0xef, 0xbb, 0xbf])
    expect(answer.body.split('\r\n')[0]?.slice(1)).toBe(seedColumns.map(({ heading }) => heading).join(','))
    const [row] = await rowsOf(answer.body)
    expect(row).toMatchObject({ Title: `'${hostile.title}`, Problem: "'＠SUM(A1)", Audience: "''=already" })
    for (const cell of Object.values(row ?? {})) expect(cell).not.toMatch(/^[=+\-@\t\r\n＝＋－＠]/)
  })

  it('come back as they were by an import of the table', async () => {
    const [from, to] = [await createCompany(service), await createCompany(service)]
    const { id } = await createSeed(service, from.owner, from, hostile)
    const decision = { status: 'dropped', statusReason: '=too late' }
    expect((await as(from.owner, patch(`/v1/seeds/${id}`, decision))).statusCode).toBe(200)
    const importId = await beginImport(service, to.member, to, (await exportOf(from, from.viewer)).rawPayload)
    await runSlice(service, importId)
    expect((await as(to.viewer, get(`${to.url}/seeds`))).json()).toMatchObject([{ ...hostile, ...decision }])
  })

  it('are those of the filters, newest first, and all of them', async () => {
    const company = await createCompany(service)
    const importId = await beginImport(service, company.member, company, makeTable(250))
    for (let done = 0; done < 250; done += 100) await runSlice(service, importId)
    const titles = async (query = '') =>
      (await rowsOf((await exportOf(company, company.viewer, query)).body)).map(({ Title }) => Title)
    const all = await titles()
    expect(new Set(all).size).toBe(250)
    const listed = (await as(company.viewer, get(`${company.url}/seeds?limit=100`))).json<TestSeed[]>()
    expect(all.slice(0, 100)).toEqual(listed.map(({ title }) => title))
    expect(await titles('?q=250')).toEqual(['Idea 250'])
    const [seed] = listed
    await as(company.member, patch(`/v1/seeds/${seed?.id}`, { status: 'validating' }))
    expect(await titles('?status=validating&status=dropped')).toEqual([seed?.title])
    const none = await exportOf(company, company.viewer, '?status=validated')
    expect(none.body.trimEnd().split('\r\n')).toHaveLength(1)
  })

  it('may be exported with a key that only reads, and by nobody else', async () => {
    const [company, other] = [await createCompany(service), await createCompany(service)]
    const { secret } = await createKey(service, company.member, { access: 'read' })
    expect((await exportOf(company, { ...company.member, apiKey: secret })).statusCode).toBe(200)
    expectError(await exportOf(company, other.owner), errors.notAMember)
    expect((await exportOf(company, company.owner, '?sort=createdAt')).statusCode).toBe(400)
    expect((await exportOf(company, company.owner, '?due=never')).statusCode).toBe(400)
  })
})

describe('evidence', () => {
  it('is a table, also of what was withdrawn, oldest first', async () => {
    const company = await createCompany(service)
    const { owner, viewer } = company
    const { id } = await createSeed(service, owner, company)
    const first = await addEvidence(service, owner, { id }, { summary: '=1+1' })
    await addEvidence(service, owner, { id }, { summary: 'Second', verdict: 'contradicts' })
    await as(owner, post(`/v1/evidence/${first.id}/withdraw`, { reason: 'Wrong' }))
    const answer = await as(viewer, get(`/v1/seeds/${id}/evidence/export`))
    expect(answer.headers['content-disposition']).toContain('-evidence-')
    expect(await rowsOf(answer.body)).toMatchObject([
      { Summary: "'=1+1", 'Reason for withdrawing': 'Wrong', Id: first.id },
      { Summary: 'Second', Verdict: 'contradicts', 'Withdrawn at': '' },
    ])
  })

  it('is not found by strangers', async () => {
    const [company, other] = [await createCompany(service), await createCompany(service)]
    const { id } = await createSeed(service, company.owner, company)
    expectError(await as(other.owner, get(`/v1/seeds/${id}/evidence/export`)), errors.notFound)
  })
})
