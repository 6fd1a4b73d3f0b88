import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer } from 'smtp-server'
import { afterFile } from './after-file.ts'

/** A mail as the server took it. */
export interface ReceivedMail {
  /** Whom the envelope is for. */
  recipients: string[]
  raw: string
  parsed: Email
  /** The value of a header, by its name in lower case. */
  header: (name: string) => string | undefined
}

/** How a mail server meets its clients. Change it while it runs. */
export interface MailServerMood {
  /** Refuses every recipient with this code. */
  refusesWith?: number
  /** Only this one, and the text of its refusal, such as an enhanced code. */
  refuses?: { recipient?: string; text?: string }
  /** Takes a mail in whole and then fails with this code. */
  failsWith?: number
  /** Nobody is greeted before this is done. */
  greetsAfter?: Promise<unknown>
}

/** A mail server on loopback. */
export interface MailServer {
  url: string
  port: number
  mood: MailServerMood
  /** Every mail that was taken in, oldest first, those that the server then failed at too. */
  received: ReceivedMail[]
  /** The next mail for an address that nobody has asked for yet; waits for it. */
  nextFor: (address: string) => Promise<ReceivedMail>
  /** How often somebody has connected. */
  connections: number
  /** Refuses every connection from now on, as a server that is down. */
  stop: () => Promise<void>
  /** Comes back, at the same port. */
  start: () => Promise<void>
}

/** The certificate of a mail server, and when TLS begins. */
export interface MailServerTls {
  key: string
  cert: string
  /** With the first byte, or when the client says STARTTLS. */
  begins: 'at once' | 'when asked'
}

/** Starts a mail server, which ends when the tests of the file are done. */
export async function startMailServer({ tls }: { tls?: MailServerTls } = {}): Promise<MailServer> {
  const mood: MailServerMood = {}
  const taken = new Set<ReceivedMail>()
  const waiting = new Set<() => void>()
  const createServer = () =>
    new SMTPServer({
      authOptional: true,
      disabledCommands: tls ? ['AUTH'] : ['STARTTLS', 'AUTH'],
      ...(tls && { key: tls.key, cert: tls.cert, secure: tls.begins === 'at once' }),
      closeTimeout: 100,
      onConnect(_session, callback) {
        server.connections += 1
        if (mood.greetsAfter) void mood.greetsAfter.then(() => callback())
        else callback()
      },
      onRcptTo({ address }, _session, callback) {
        const { recipient = address, text } = mood.refuses ?? {}
        const isRefused = mood.refusesWith !== undefined && recipient === address
        callback(isRefused ? failure(mood.refusesWith, text) : null)
      },
      onData(stream, session, callback) {
        void take(
          stream,
          session.envelope.rcptTo.map(({ address }) => address),
        ).then(() => callback(mood.failsWith === undefined ? null : failure(mood.failsWith)))
      },
    })

  let smtp: SMTPServer

  async function take(stream: NodeJS.ReadableStream, recipients: string[]): Promise<void> {
    const raw = await text(stream)
    const parsed = await PostalMime.parse(raw)
    const header = (name: string) => parsed.headers.find(({ key }) => key === name)?.value
    server.received.push({ recipients, raw, parsed, header })
    for (const look of waiting) look()
  }

  const server: MailServer = {
    url: '',
    port: 0,
    mood,
    received: [],
    connections: 0,
    nextFor: (address) =>
      new Promise((resolve) => {
        const look = () => {
          const mail = server.received.find(
            (candidate) => candidate.recipients.includes(address) && !taken.has(candidate),
          )
          if (!mail) return
          taken.add(mail)
          waiting.delete(look)
          resolve(mail)
        }
        waiting.add(look)
        look()
      }),
    stop: () => new Promise((resolve) => smtp.close(resolve)),
    async start() {
      smtp = createServer()
      // What breaks off is the client's to tell.
      smtp.on('error', () => undefined)
      const listening = smtp.listen(server.port, '127.0.0.1')
      await once(listening, 'listening')
      server.port = (listening.address() as AddressInfo).port
      server.url = `${tls?.begins === 'at once' ? 'smtps' : 'smtp'}://127.0.0.1:${server.port}`
    },
  }
  await server.start()
  afterFile(server.stop)
  return server
}

function failure(responseCode = 450, text = 'not now'): Error {
  return Object.assign(new Error(text), { responseCode })
}
