import { readFile } from 'node:fs/promises'
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { addPerson, createCompany, get } from '../support/company.ts'
import { eventually } from '../support/eventually.ts'
import { drawQuadrants } from '../support/images.ts'
import { longNames } from '../support/long-texts.ts'
import { createSeed } from '../support/seeds.ts'
import { check, hasBrowser, sizes } from './browser.ts'
import { openAs, serveSite, startSite, type Site } from './site.ts'
import { engines, type Tab } from './tabs.ts'

const csv = 'role,answer\nfitter,yes\n'
const names = {
  pasted: 'Hubert-Wolfeschlegelsteinhausenbergerdorff-'.repeat(4) + '.png',
  dropped: 'مقابلات العملاء.csv',
  chosen: '請求書の下書き 👩🏽‍💻.txt',
  lost: 'interviews.csv',
}

/** The script that makes a `DataTransfer` of files, and text. */
const transferOf = (files: [name: string, base64: string, type: string][], text = '') => `(() => {
  const transfer = new DataTransfer()
  for (const [name, base64, type] of ${JSON.stringify(files)})
    transfer.items.add(new File([Uint8Array.from(atob(base64), (it) => it.charCodeAt(0))], name, { type }))
  if (${JSON.stringify(text)}) transfer.setData('text/plain', ${JSON.stringify(text)})
  return transfer
})()`
const toBase64 = (content: string | Buffer) => Buffer.from(content).toString('base64')

const form = `document.querySelector('form:has(textarea[name="body"])')`
const rows = `[...${form}.querySelectorAll('.files li')]`

/** Pastes in the field, as the browser does. Returns whether the page left the paste to the browser. */
const paste = (tab: Tab, transfer: string) =>
  tab.evaluate<boolean>(`(() => {
    const event = new Event('paste', { bubbles: true, cancelable: true })
    Object.defineProperty(event, 'clipboardData', { value: ${transfer} })
    return ${form}.querySelector('textarea').dispatchEvent(event)
  })()`)

const drop = (tab: Tab, transfer: string) =>
  tab.evaluate(`(() => {
    const dataTransfer = ${transfer}
    for (const type of ['dragover', 'drop'])
      ${form}.querySelector('textarea').dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer }))
  })()`)

/** Waits until a file is named by the form. */
const isAttached = (tab: Tab, name: string) =>
  tab.until(
    `${rows}.some((row) => row.querySelector('bdi').textContent === ${JSON.stringify(name)} && row.querySelector('input'))`,
    `the file ${name}`,
  )

describe.each(Object.entries(engines))('files of a comment in %s', (_, engine) => {
  let site: Awaited<ReturnType<typeof serveSite>>

  beforeAll(async () => {
    site = await serveSite()
  })

  it('are pasted, dropped, tried again, removed, sent when they are uploaded, and shown', async (context) => {
    if (!engine.isInstalled) return context.skip(`needs the package ${engine.package}`)
    const { origin, website } = site
    const company = await createCompany(website)
    const { owner, workspace } = company
    const person = await addPerson(website, workspace, 'member', longNames[1])
    const seed = await createSeed(website, owner, company)
    const browser = await engine.open()
    onTestFinished(() => browser.close())
    const signInUrl = (await website.services.credentials.createLink('sign_in', person.id)).url
    const tab = await browser.openTab({ size: 'phone', signInUrl })
    const violations: string[] = []
    const look = async () => violations.push(...(await tab.findViolations()))
    const image = toBase64(await drawQuadrants(600, 300).png().toBuffer())
    await tab.goto(`${origin}/w/${workspace.slug}/seeds/${seed.id}`)
    await tab.fill('Comment', 'See the files')

    // Text with an image of it is text.
    const copied = transferOf([['image.png', image, 'image/png']], 'A table')
    expect(await paste(tab, copied)).toBe(true)
    expect(await tab.evaluate(`${rows}.length`)).toBe(0)
    expect(await paste(tab, transferOf([[names.pasted, image, 'image/png']]))).toBe(false)
    await isAttached(tab, names.pasted)
    await drop(
      tab,
      transferOf([
        [names.dropped, toBase64(csv), 'text/csv'],
        [names.chosen, toBase64('text'), 'text/plain'],
      ]),
    )
    await isAttached(tab, names.dropped)
    await isAttached(tab, names.chosen)
    await look()

    // The connection is lost: neither the text nor the other files are.
    let isLost = true
    website.app.server.prependListener('request', ({ url, socket }) => {
      if (isLost && url?.endsWith('/attachments')) socket.destroy()
    })
    await drop(tab, transferOf([[names.lost, toBase64(csv), 'text/csv']]))
    await tab.see('The connection was lost.')
    await look()
    await tab.click(['button', 'Comment'])
    await tab.see('Not sent: a file was not uploaded. Try again, or remove it.')
    isLost = false
    await tab.click(['button', `Try again ${names.lost}`])
    await isAttached(tab, names.lost)
    expect(await tab.evaluate(`${form}.querySelector('[role="status"]').textContent`)).toBe('')

    // What is of no use is refused, and what is removed is deleted.
    await drop(tab, transferOf([['program.exe', toBase64(Buffer.from([77, 90, 0, 3])), 'text/csv']]))
    await tab.see('A file of this type cannot be attached.')
    await tab.click(['button', 'Remove program.exe'])
    const chosenId = await tab.evaluate<string>(`${rows}[2].querySelector('input').value`)
    await tab.click(['button', `Remove ${names.chosen}`])
    const chosenUrl = `${company.url}/attachments/${chosenId}`
    await eventually(async () => expect((await website.as(person, get(chosenUrl))).statusCode).toBe(404))

    // Sent during an upload, it waits for it.
    const { attachments } = website.services
    const create = attachments.create.bind(attachments)
    let release: () => void = () => undefined
    const gate = new Promise<void>((resolve) => (release = resolve))
    const spy = vi.spyOn(attachments, 'create').mockImplementationOnce(async (...input) => {
      await gate
      return create(...input)
    })
    onTestFinished(() => spy.mockRestore())
    await drop(tab, transferOf([['last.csv', toBase64(csv), 'text/csv']]))
    await tab.click(['button', 'Comment'])
    await tab.see('This is sent when the files are uploaded.')
    await tab.until(`${form}.querySelector('progress').ariaLabel === 'Uploading last.csv'`)
    await look()
    release()
    await tab.see('Comment added.')

    // It is shown with its files.
    const shown = `document.querySelector('.comment')`
    await tab.until(`${shown}.querySelector('.images img').naturalWidth === 480`)
    const [width, height] = await tab.evaluate<[number, number]>(
      `(({ width, height }) => [width, height])(${shown}.querySelector('.images img').getBoundingClientRect())`,
    )
    expect([width, height].map(Math.round)).toEqual([240, 120])
    const linked = await tab.evaluate(
      `[...${shown}.querySelectorAll('.files a')].map((it) => it.textContent)`,
    )
    expect(linked).toEqual([names.dropped, names.lost, 'last.csv'])
    const content = await tab.evaluate(
      `fetch(${shown}.querySelector('.files a').href).then((it) => it.text())`,
    )
    expect(content).toBe(csv)
    await look()
    expect(violations).toEqual([])
    expect(tab.complaints).toEqual([])
  })
})

describe.runIf(hasBrowser)('files in Chromium', () => {
  let site: Site

  beforeAll(async () => {
    site = await startSite()
  })

  it('are chosen for a seed, kept in a form that is refused, downloaded, and removed', async () => {
    const { origin, website } = site
    const company = await createCompany(website)
    const { page, context, complaints } = await openAs(site, company.member, { viewport: sizes.desk })
    onTestFinished(() => context.close())
    await page.goto(`${origin}/w/${company.workspace.slug}/seeds/new`)
    await page.getByLabel('Title').fill('An idea')
    await page.getByLabel('Summary').fill('Hidden: \u202e')
    const choose = async (...files: { name: string; mimeType: string; buffer: Buffer }[]) => {
      const chooser = page.waitForEvent('filechooser')
      await page.getByRole('button', { name: 'Attach files' }).click()
      await (await chooser).setFiles(files)
    }
    const one = { name: 'one.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) }
    const image = {
      name: 'one.png',
      mimeType: 'image/png',
      buffer: await drawQuadrants(20, 20).png().toBuffer(),
    }
    await choose(one, image)
    const removal = (name: string) => page.getByRole('button', { name: `Remove ${name}` })
    await removal('one.csv').waitFor()
    await page.locator('input[name="attachmentIds"]').nth(2).waitFor({ state: 'attached' })
    await choose(...Array.from({ length: 9 }, () => one))
    await page.getByText('At most 10 files can be attached.').waitFor()
    for (let left = 8; left > 0; left--) await removal('one.csv').last().click()
    await check(page)
    await page.getByRole('button', { name: 'Create seed' }).click()
    await page.locator('textarea[aria-invalid="true"]').waitFor()
    await check(page)
    await page.getByLabel('Summary').fill('Shown')
    await page.getByRole('button', { name: 'Create seed' }).click()
    await page.getByText('Seed created.').waitFor()
    await check(page)
    const download = page.waitForEvent('download')
    await page.getByRole('link', { name: 'one.csv' }).click()
    expect((await download).suggestedFilename()).toBe('one.csv')
    expect(await readFile(await (await download).path(), 'utf8')).toBe(csv)
    await page.goto(`${page.url().split('?')[0]}/edit`)
    await removal('one.png').click()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved.').waitFor()
    expect(await page.locator('#texts :is(.images, .files)').allInnerTexts()).toEqual([
      expect.stringContaining('one.csv'),
    ])
    expect(complaints).toEqual([])
  })

  it('are refused before they are sent when they are too large', async () => {
    const { origin, website } = site
    const company = await createCompany(website)
    const seed = await createSeed(website, company.owner, company)
    const { page, context } = await openAs(site, company.member, { viewport: sizes.phone })
    onTestFinished(() => context.close())
    const sent: string[] = []
    page.on('request', (request) => {
      if (request.method() === 'POST') sent.push(request.url())
    })
    await page.goto(`${origin}/w/${company.workspace.slug}/seeds/${seed.id}`)
    await page.evaluate(`(() => {
      const dataTransfer = new DataTransfer()
      dataTransfer.items.add(new File([new Uint8Array(${25 * 1024 * 1024 + 1})], 'film.mp4'))
      ${form}.dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer }))
    })()`)
    await page.getByText('The file is larger than 25 MB.', { exact: true }).waitFor()
    await check(page)
    expect(sent).toEqual([])
  })
})
