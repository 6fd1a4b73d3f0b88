import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { SMTPServer } from 'smtp-server'
import { findPort, type Scope } from './processes.ts'

/** A mail server that keeps count of what it took. Its mood is changed while it runs. */
export interface MailSink {
  url: string
  mood: { answers?: number; refuses?: { recipient: string; with: number }; isFrozen?: boolean }
  /** What was taken in, by recipient: the `Message-ID`s, also of what came twice. */
  taken: Map<string, string[]>
  connections: () => number
  stop: () => Promise<void>
  start: () => Promise<void>
}

/** Starts it on loopback. */
export async function startMailSink(scope: Scope): Promise<MailSink> {
  const port = await findPort()
  const sink: MailSink = {
    url: `smtp://127.0.0.1:${port}`,
    mood: {},
    taken: new Map(),
    connections: () => connections,
    stop: () => new Promise((resolve) => server.close(resolve)),
    async start() {
      server = createServer()
      await once(server.listen(port, '127.0.0.1'), 'listening')
    },
  }
  let connections = 0
  const failure = (responseCode: number) => Object.assign(new Error('not now'), { responseCode })
  const createServer = () =>
    new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS', 'AUTH'],
      closeTimeout: 100,
      onConnect(_session, callback) {
        connections += 1
        // Who is frozen greets nobody.
        if (!sink.mood.isFrozen) callback()
      },
      onRcptTo({ address }, _session, callback) {
        const { answers, refuses } = sink.mood
        if (sink.mood.isFrozen) return
        if (refuses?.recipient === address) callback(failure(refuses.with))
        else callback(answers === undefined ? null : failure(answers))
      },
      onData(stream, session, callback) {
        text(stream).then((raw) => {
          if (sink.mood.isFrozen) return
          const id = /^message-id: *(\S+)/im.exec(raw)?.[1] ?? ''
          for (const { address } of session.envelope.rcptTo)
            sink.taken.set(address, [...(sink.taken.get(address) ?? []), id])
          callback(null)
        }, callback)
      },
    }).on('error', () => undefined)
  let server: SMTPServer
  await sink.start()
  scope.defer(sink.stop)
  return sink
}
