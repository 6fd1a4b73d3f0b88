import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { SendMailOptions, Transporter } from 'nodemailer'
import { MailError, type Mailer, type MailMessage, type RecipientRefusal } from './mail.port.ts'

const timeouts = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 30_000 }

/**
 * Sends mail over SMTP, to the server of the URL at that moment. With a server that does not respond, sending fails after
 * 30 s at most.
 */
export function createSmtpMailer(readUrl: () => string, from: string): Mailer {
  let transport: Transporter | undefined
  let transportUrl: string | undefined
  return {
    async send(message) {
      const { createTransport } = await loadNodemailer()
      const url = readUrl()
      if (transport === undefined || url !== transportUrl) {
        // Mails that are being sent are not cut off: each has a connection of its own.
        transport = createTransport({ url, ...timeouts })
        transportUrl = url
      }
      try {
        const { response } = (await transport.sendMail(
          toOptions(message, { from, isEightBitClean: false }),
        )) as { response: string }
        return { smtpCode: Number(response.slice(0, 3)) }
      } catch (error) {
        throw toMailError(error)
      }
    },
    close: () => transport?.close(),
  }
}

function toMailError(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { responseCode, command, response } = error as Error & Record<string, unknown>
  return new MailError(error, {
    smtpCode: typeof responseCode === 'number' ? responseCode : null,
    refusal: command === 'RCPT TO' && typeof response === 'string' ? readRefusal(response) : 'none',
  })
}

/** What the answer to RCPT says of the recipient. */
function readRefusal(response: string): RecipientRefusal {
  if (!/^55[03]/.test(response)) return 'none'
  const enhanced = /^\d{3}[ -](\d\.\d{1,3})\.\d{1,3}\b/.exec(response)
  if (!enhanced) return 'unclear'
  return enhanced[1] === '5.1' ? 'unknown' : 'none'
}

/** Connects to the mail server and signs in, without sending a mail. Rejects if it cannot. */
export async function verifySmtp(smtpUrl: string): Promise<void> {
  const { createTransport } = await loadNodemailer()
  const transport = createTransport({ url: smtpUrl, ...timeouts })
  try {
    await transport.verify()
  } finally {
    transport.close()
  }
}

/**
 * Writes mail to a folder as .eml files, for development without a mail server. Long links are not wrapped, so that
 * they can be opened from a terminal.
 */
export function createFileMailer(
  folder: string,
  from: string,
  onWritten: (message: MailMessage, path: string) => void,
): Mailer {
  return {
    async send(message) {
      const { createTransport } = await loadNodemailer()
      // With LF as line break, since a script that extracts a link would include the carriage return.
      const transport = createTransport({ streamTransport: true, buffer: true, newline: 'unix' })
      const { message: content } = await transport.sendMail(
        toOptions(message, { from, isEightBitClean: true }),
      )
      const path = join(folder, `${new Date().toISOString().replaceAll(':', '-')}-${message.id}.eml`)
      await mkdir(folder, { recursive: true, mode: 0o700 })
      await writeFile(`${path}.unfinished`, content as Buffer, { mode: 0o600 })
      await rename(`${path}.unfinished`, path)
      onWritten(message, path)
      return { smtpCode: null }
    },
    close: () => undefined,
  }
}

/** Loaded at the first mail, to keep the start fast. */
const loadNodemailer = () => import('nodemailer')

interface MailOptions {
  from: string
  /** Whether bytes above 127 may be sent. Mail servers need the extension 8BITMIME (RFC 6152) for them. */
  isEightBitClean: boolean
}

function toOptions(
  { to, subject, text, html, id, unsubscribeUrl }: MailMessage,
  { from, isEightBitClean }: MailOptions,
): SendMailOptions {
  const domain = /@([^>\s]+)/.exec(from)?.[1] ?? 'localhost'
  return {
    from,
    // A quoted name cannot be encoded (RFC 2047 §5).
    to: { name: mayBeDecoded(to.name) ? '' : to.name, address: to.address },
    subject: mayBeDecoded(subject) ? encodeWords(subject) : subject,
    alternatives: [toPart('text/plain', text, isEightBitClean), toPart('text/html', html, isEightBitClean)],
    messageId: `<${id}@${domain}>`,
    // RFC 3834 §5: prevents automatic replies.
    headers: {
      'Auto-Submitted': 'auto-generated',
      // RFC 8058 §3.1.
      ...(unsubscribeUrl !== undefined && { 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }),
    },
    ...(unsubscribeUrl !== undefined && { list: { unsubscribe: unsubscribeUrl } }),
  }
}

/**
 * Whether mail programs may take a text for an encoded one (RFC 2047): Nodemailer sends it as it is, and a name could so
 * contain what is refused in names.
 */
function mayBeDecoded(text: string): boolean {
  return text.includes('=?')
}

// An encoded word has at most 75 characters (RFC 2047 §2).
const wordBytesMax = 45

/** Encodes a text of a header, in words of whole characters. */
function encodeWords(text: string): string {
  const words: string[] = []
  for (const character of text) {
    const longer = `${words.at(-1) ?? ''}${character}`
    if (words.length > 0 && Buffer.byteLength(longer) <= wordBytesMax) words[words.length - 1] = longer
    else words.push(character)
  }
  return words.map((word) => `=?UTF-8?B?${Buffer.from(word).toString('base64')}?=`).join(' ')
}

type MailPart = NonNullable<SendMailOptions['alternatives']>[number]

// RFC 5322 §2.1.1, in octets and without the line break.
const lineLengthMax = 998

/**
 * Creates a part of a mail, unencoded if SMTP allows it. By default Nodemailer encodes a text with a line of more than
 * 76 characters as quoted-printable, which breaks long links in the source of the mail.
 */
function toPart(type: string, content: string, isEightBitClean: boolean): MailPart {
  const contentType = `${type}; charset=utf-8`
  const bytes = Buffer.from(content)
  const isAscii = bytes.length === content.length
  const isShort = content.split('\n').every((line) => Buffer.byteLength(line) <= lineLengthMax)
  if (!isShort || !(isAscii || isEightBitClean)) return { contentType, content }
  const head = `Content-Type: ${contentType}\r\nContent-Transfer-Encoding: ${isAscii ? '7bit' : '8bit'}`
  return { contentType, raw: `${head}\r\n\r\n${content.replaceAll(/\r?\n/g, '\r\n')}` }
}
