import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import PostalMime from 'postal-mime'
import { expect, it } from 'vitest'
import type { MailContent } from '../../src/mail/compose.ts'
import { resetPasswordMail } from '../../src/mail/link-mails.ts'
import { inviteMail } from '../../src/mail/workspace-mails.ts'
import { createFileMailer, createSmtpMailer } from '../../src/platform/mail/nodemailer-mail.ts'
import { startMailServer } from '../support/mail-server.ts'
import { makeFolder } from '../support/uploads.ts'

const server = await startMailServer()
const from = 'Acme <post@mail.example.com>'
const url = `https://app.example.com/somewhere/${'x'.repeat(120)}?a=1`

const plain = resetPasswordMail({ name: 'Ada', url, lifetimeMs: 60_000 })
const invited = (name: string, inviteUrl = url) =>
  inviteMail({
    workspaceName: name,
    invitedByName: name,
    role: 'member',
    inviteUrl,
    expiresAt: new Date('2026-11-28T03:04:05.678Z'),
    now: new Date('2026-11-21T03:04:05.678Z'),
  })

function messageOf(content: MailContent, name = 'Ada') {
  return { ...content, to: { name, address: 'ada@example.com' }, id: 'reset-1' }
}

/** The file that a mail becomes, as `cat` shows it. */
async function writeToFile(content: MailContent, name?: string): Promise<string> {
  const folder = await makeFolder()
  const mailer = createFileMailer(folder, from, () => undefined)
  await mailer.send(messageOf(content, name))
  mailer.close()
  const [file = ''] = await readdir(folder)
  return readFile(join(folder, file), 'utf8')
}

async function sendBySmtp(content: MailContent): Promise<string> {
  const mailer = createSmtpMailer(() => server.url, from)
  await mailer.send(messageOf(content))
  mailer.close()
  return (await server.nextFor('ada@example.com')).raw
}

/** The link stands whole on a line of its own in the text, and whole in the HTML. */
function expectWholeLinks(raw: string, link: string): void {
  const lines = raw.split(/\r?\n/)
  expect(lines).toContain(link)
  expect(lines.filter((line) => line.includes(`<a href="${link}">`))).toHaveLength(1)
}

it.each([
  ['plain names', plain],
  ['names in other scripts', invited('Zoë 漢字 🧑')],
  ['names that consist of quotation marks', invited('"'.repeat(100))],
  ['the longest names without a space', invited('🧑'.repeat(100))],
])('an email with %s has unbroken links in a file', async (_, content) => {
  const raw = await writeToFile(content, 'Zoë 漢字')
  expectWholeLinks(raw, url)
  const parsed = await PostalMime.parse(raw)
  expect(parsed.text?.trim()).toBe(content.text.trim())
  expect(parsed.html?.trim()).toBe(content.html.trim())
  expect(parsed.to).toEqual([{ name: 'Zoë 漢字', address: 'ada@example.com' }])
})

it('an email in ASCII has unbroken links over SMTP', async () => {
  expectWholeLinks(await sendBySmtp(plain), url)
})

it('an email with other characters is sent as ASCII over SMTP', async () => {
  const content = invited('Zoë 漢字 🧑')
  const raw = await sendBySmtp(content)
  expect(raw).toMatch(/^[\r\n\x20-\x7e\t]*$/)
  expect((await PostalMime.parse(raw)).text?.trim()).toBe(content.text.trim())
})

it('a line longer than 998 bytes is encoded, and decodes to the original', async () => {
  const long = `https://app.example.com/${'x'.repeat(1000)}`
  const raw = await writeToFile(invited('Ada', long))
  for (const line of raw.split(/\r?\n/)) expect(line.length).toBeLessThanOrEqual(998)
  expect((await PostalMime.parse(raw)).text).toContain(long)
})
