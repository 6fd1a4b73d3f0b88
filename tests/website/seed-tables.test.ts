import { describe, expect, it } from 'vitest'
import { byteOrderMark } from '../../src/kernel/csv-cells.ts'
import { createCompany, get } from '../support/company.ts'
import { buildForm, type FormPart } from '../support/forms.ts'
import { makeTable } from '../support/seed-imports.ts'
import { addEvidence, createSeed, type TestSeed } from '../support/seeds.ts'
import { cookiesOf, csrfTokenOf, noticeOn, signInAs, startWebsite, type Visitor } from './visitor.ts'

const website = await startWebsite()
const company = await createCompany(website)
const base = `/w/${company.workspace.slug}`
const member = await signInAs(website, company.member)

/** Sends the first form, as a browser without scripts does. Returns the page that it leads to. */
async function sendTable(visitor: Visitor, parts: FormPart[]) {
  await visitor.get(`${base}/seeds/import`)
  const empty = { name: 'file', filename: '', type: 'application/octet-stream', content: '' }
  const hasFile = parts.some(({ filename }) => filename !== undefined)
  const form = buildForm(
    { name: '_csrf', content: csrfTokenOf(visitor.page()) },
    ...parts,
    ...(hasFile ? [] : [empty]),
  )
  const answer = await website.app.inject({
    method: 'POST',
    url: `${base}/seeds/import`,
    ...form,
    headers: { ...form.headers, cookie: cookiesOf(visitor), accept: 'text/html' },
  })
  expect(answer.statusCode, answer.body).toBe(303)
  const path = String(answer.headers.location)
  return { path, page: (await visitor.get(path)).body }
}

const paste = (visitor: Visitor, table: string) => sendTable(visitor, [{ name: 'table', content: table }])

/** What the form of the columns has chosen for each. */
const chosenOn = (page: string) =>
  [...page.matchAll(/<select id="(column-\d+)"[^]*?<\/select>/g)].map(
    ([select, name]) => [name, /value="(\w*)"\s+selected/.exec(select)?.[1] ?? ''] as const,
  )

const titlesOf = async ({ url, viewer }: typeof company) =>
  (await website.as(viewer, get(`${url}/seeds?limit=200`))).json<TestSeed[]>().map(({ title }) => title)

describe('an import', () => {
  it('takes a pasted table, shows its columns and faults, and says how far it is, with a button that undoes it', async () => {
    const { path, page } = await paste(
      member,
      'Idee\tWorum\tStatus\nツール مرحبا 👩‍👩‍👧\tLeihen\topen\n\tLeer\tnie\n',
    )
    expect(path).toMatch(new RegExp(`^${base}/seeds/imports/[0-9a-f-]{36}$`))
    expect(chosenOn(page)).toEqual([
      ['column-0', ''],
      ['column-1', ''],
      ['column-2', 'status'],
    ])
    expect(page).toContain('No column is the title.')
    expect(page).toContain('For example <bdi>ツール مرحبا 👩‍👩‍👧</bdi>')
    expect(page).not.toContain('value="import"')
    const mapping = { 'column-0': 'title', 'column-1': 'summary', 'column-2': 'status' }
    expect((await member.post(path, { ...mapping, do: 'check' })).headers.location).toBe(path)
    const checked = (await member.get(path)).body
    expect(chosenOn(checked).map(([, field]) => field)).toEqual(['title', 'summary', 'status'])
    expect(checked).toContain('1 row of 2 has faults:')
    expect(checked).toContain('Row 3, Title: This text must not be blank.')
    expect(checked).toContain('Row 3, Status: This must be one of')
    const imported = await member.submit(path, { ...mapping, do: 'skip' })
    expect(noticeOn(imported.body)).toBe('The import has begun.')
    await expect.poll(async () => (await member.get(path)).body).toContain('1 of 1 seed')
    expect(await titlesOf(company)).toEqual(['ツール مرحبا 👩‍👩‍👧'])
    const done = (await member.get(path)).body
    expect(done).toContain('Left out: 1 row')
    expect(done).toContain(`action="${path}/undo"`)
    expect((await member.get(`${base}/seeds/import`)).body).toContain(`href="${path}"`)
    const undone = await member.submit(`${path}/undo`)
    expect(noticeOn(undone.body)).toBe('The import is being undone.')
    await expect.poll(async () => (await member.get(path)).body).toContain('<strong>Undone:</strong>')
    expect(await titlesOf(company)).toEqual([])
  })

  it('takes a file, and guesses its columns', async () => {
    const content = `${byteOrderMark}Description;Name\r\nWhat it is;A tool\r\n`
    const { path, page } = await sendTable(member, [
      { name: 'table', content: '' },
      { name: 'file', filename: 'ideas.csv', type: 'text/csv', content },
    ])
    expect(chosenOn(page).map(([, field]) => field)).toEqual(['summary', 'title'])
    expect(page).toContain('1 row, all without faults.')
    expect(page).toContain('Import 1 seed')
    // The other way round: nobody imports what they have not been shown.
    const swapped = await member.submit(path, { 'column-0': 'title', 'column-1': 'summary', do: 'import' })
    expect(noticeOn(swapped.body)).toContain('Look at the rows again')
    expect(await titlesOf(company)).toEqual([])
    const fields = { 'column-0': 'summary', 'column-1': 'title' }
    await member.submit(path, { ...fields, do: 'check' })
    await member.get(path)
    const form = { ...fields, do: 'import', _csrf: csrfTokenOf(member.page()) }
    const sent = await Promise.all([member.post(path, form), member.post(path, form)])
    for (const answer of sent) expect(answer.headers.location).toContain(path)
    await expect.poll(() => titlesOf(company)).toEqual(['A tool'])
  })

  it('shows what is wrong with a table on the page of the form', async () => {
    for (const [content, text] of [
      ['', 'Choose a file.'],
      ['a,b\n"1,2', 'A quotation mark is not closed'],
      ['a,b\n', 'It has a header, and no rows.'],
    ] as const) {
      const { path, page } = await paste(member, content)
      expect(path).toContain(`${base}/seeds/import`)
      expect(page).toContain(text)
    }
    const { page } = await sendTable(member, [
      {
        name: 'file',
        filename: 'ideas.xlsx',
        type: 'application/zip',
        content: Buffer.from('PK\u0003\u0004'),
      },
    ])
    expect(page).toContain('an Excel workbook (.xlsx)')
    const large = await paste(member, 'x'.repeat(5 * 1024 * 1024 + 1))
    expect(large.page).toContain('The text is too long.')
  })

  it('is of the person alone until it begins, and of writers', async () => {
    const { path } = await paste(member, makeTable(1))
    const [owner, viewer] = [await signInAs(website, company.owner), await signInAs(website, company.viewer)]
    expect((await owner.get(path)).statusCode).toBe(404)
    expect((await viewer.get(path)).statusCode).toBe(404)
    expect((await viewer.get(`${base}/seeds/import`)).statusCode).toBe(403)
    expect((await viewer.get(`${base}/seeds`)).body).not.toContain('Import from a table')
    expect((await member.get(`${base}/seeds`)).body).toContain(`href="${base}/seeds/import"`)
    // Another table takes its place.
    await paste(member, makeTable(2))
    expect((await member.get(path)).statusCode).toBe(404)
  })
})

describe('a table', () => {
  it('of the list has the filters of the page, also for viewers', async () => {
    const other = await createCompany(website)
    const path = `/w/${other.workspace.slug}/seeds`
    await createSeed(website, other.owner, other, { title: 'Lending library' })
    await createSeed(website, other.owner, other, { title: 'Other' })
    const viewer = await signInAs(website, other.viewer)
    const page = (await viewer.get(`${path}?q=lending&status=open&sort=decideBy`)).body
    expect(page).toContain(`href="${path}/export.csv?q=lending&amp;status=open"`)
    const answer = await viewer.get(`${path}/export.csv?q=lending&status=open`)
    expect(answer.headers['content-disposition']).toMatch(/^attachment; filename="[\w-]+\.csv"$/)
    expect(answer.body.startsWith(byteOrderMark)).toBe(true)
    expect(answer.body.trimEnd().split('\r\n')).toHaveLength(2)
    expect(answer.body).toContain('Lending library')
    expect((await viewer.get(`${path}/export.csv?status=dropped`)).body.trimEnd().split('\r\n')).toHaveLength(
      1,
    )
  })

  it('of the evidence of a seed is on its page', async () => {
    const seed = await createSeed(website, company.owner, company)
    await addEvidence(website, company.owner, seed, { summary: '=1+1' })
    const viewer = await signInAs(website, company.viewer)
    const path = `${base}/seeds/${seed.id}/evidence.csv`
    expect((await viewer.get(`${base}/seeds/${seed.id}`)).body).toContain(`href="${path}"`)
    expect((await viewer.get(path)).body).toContain(",'=1+1,")
  })
})
