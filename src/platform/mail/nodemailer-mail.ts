import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createTransport, type SendMailOptions } from 'nodemailer'
import type { Mailer, MailMessage } from './mail.port.ts'

/** Sends mail over SMTP. A server that does not answer costs half a minute of a worker's time and nobody else's. */
export function createSmtpMailer(smtpUrl: string, from: string): Mailer {
  const transport = createTransport({
    url: smtpUrl,
    connectionTimeout: 10_000,
    greetingTimeout: 10_000,
    socketTimeout: 30_000,
  })
  return {
    async send(message) {
      await transport.sendMail(toOptions(message, from))
    },
    close: () => transport.close(),
  }
}

/** Writes mail into a folder as .eml files, for trying things out without a mail server. */
export function createFileMailer(
  folder: string,
  from: string,
  onWritten: (message: MailMessage, path: string) => void,
): Mailer {
  const transport = createTransport({ streamTransport: true, buffer: true, newline: 'crlf' })
  return {
    async send(message) {
      const { message: content } = await transport.sendMail(toOptions(message, from))
      const path = join(folder, `${new Date().toISOString().replaceAll(':', '-')}-${message.id}.eml`)
      await mkdir(folder, { recursive: true, mode: 0o700 })
      await writeFile(`${path}.unfinished`, content as Buffer, { mode: 0o600 })
      await rename(`${path}.unfinished`, path)
      onWritten(message, path)
    },
    close: () => transport.close(),
  }
}

function toOptions(
  { to, subject, text, html, id, unsubscribeUrl }: MailMessage,
  from: string,
): SendMailOptions {
  const domain = /@([^>\s]+)/.exec(from)?.[1] ?? 'localhost'
  return {
    from,
    to: { name: to.name, address: to.address },
    subject,
    text,
    html,
    messageId: `<${id}@${domain}>`,
    // RFC 3834 §5: nobody's vacation answers a machine.
    headers: { 'Auto-Submitted': 'auto-generated' },
    ...(unsubscribeUrl !== undefined && { list: { unsubscribe: unsubscribeUrl } }),
  }
}
