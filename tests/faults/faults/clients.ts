import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { conclude, percentile, summarize, type Fault } from '../fault.ts'
import { createClient } from '../load.ts'
import { startProbe } from '../parts/probe.ts'
import { measureProcess } from '../parts/processes.ts'
import type { Replica, Stage } from '../stage.ts'

const loopMsMax = 50
// From outside, beside everything else on the machine.
const longestMsMax = 500
const grownMiBMax = 200

interface ClientsFault extends Pick<Fault, 'name' | 'does'> {
  goal?: string
  /** What clients do to one replica; gives what they should not have been given. */
  attack: (replica: Replica, stage: Stage) => Promise<(string | false)[]>
}

/** Clients that misbehave, on one replica without HAProxy before it, while another client behaves. */
const clientsFault = ({ name, does, goal, attack }: ClientsFault): Fault => ({
  ...{ name, does },
  goal: `${goal === undefined ? '' : `${goal}; `}p99 of /health below ${loopMsMax} ms, the longest below ${longestMsMax} ms; at most ${grownMiBMax} MiB more memory; others are served`,
  stage: { replicas: 1 },
  async run(stage) {
    const [replica] = stage.replicas
    const [caller] = stage.callers
    if (!replica || !caller) throw new Error('there is nobody')
    const client = createClient(replica.origin, 2)
    const me = () => client.send({ operation: 'me', path: '/v1/me', apiKey: caller.apiKey })
    await Promise.all(Array.from({ length: 200 }, me))
    const { pid } = replica.process()
    const before = (await measureProcess(pid)).memoryMiB
    const report = startProbe(replica.origin)
    const attacking = attack(replica, stage)
    let isOver = false
    void attacking.finally(() => (isOver = true))
    const answers = []
    let most = before
    do {
      answers.push(await me())
      most = Math.max(most, (await measureProcess(pid)).memoryMiB)
      await pause(50)
    } while (!isOver as boolean)
    const misses = await attacking
    const { samples, failures } = await report()
    client.close()
    const failed = answers.filter(({ status }) => status !== 200)
    const p99 = Math.round(percentile(samples, 0.99))
    const longest = Math.round(Math.max(...samples))
    return {
      ...conclude(
        [
          ...misses,
          p99 > loopMsMax && { late: `p99 of /health was ${p99} ms` },
          longest > longestMsMax && { late: `/health once took ${longest} ms` },
          failures > 0 && `/health failed ${failures} times`,
          most - before > grownMiBMax && `${most - before} MiB more memory`,
          failed.length > 0 && `${failed.length} of a client that behaves failed: ${summarize(failed)}`,
        ],
        `/health p99 ${p99} ms, longest ${longest} ms; ${before} to ${most} MiB`,
      ),
      ...{ requests: answers.length, failed: failed.length },
      slowestMs: Math.round(Math.max(...answers.map(({ ms }) => ms))),
    }
  },
})

async function open(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  socket.on('error', () => undefined)
  await Promise.race([once(socket, 'connect'), once(socket, 'close')]).catch(() => undefined)
  return socket
}

const openMany = async (port: number, count: number): Promise<Socket[]> => {
  const sockets: Socket[] = []
  // As many at once as wait at a listener.
  while (sockets.length < count)
    sockets.push(...(await Promise.all(Array.from({ length: 100 }, () => open(port)))))
  return sockets
}

/** Writes at once, and gives all that comes until the connection ends or nothing more comes. */
async function say(port: number, text: string, ends = false): Promise<string> {
  const socket = await open(port)
  let answer = ''
  socket.setEncoding('latin1').on('data', (part: string) => (answer += part))
  socket.write(text)
  if (ends) socket.end()
  await Promise.race([once(socket, 'end').catch(() => undefined), pause(1_500)])
  socket.destroy()
  return answer
}

const statusesOf = (text: string) =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))

async function expectStatuses(port: number, what: string, text: string, ...wanted: number[]) {
  const found = statusesOf(await say(port, text))
  // What is no smuggling by itself may also be read as two requests, which then are answered both.
  const isAllowed = found.join() === wanted.join() || (harmless.has(what) && found.join() === '401,200')
  return !isAllowed && `${what}: answered ${found.join(', ') || 'nothing'}`
}

const harmless = new Set(['a folded line', 'a bare LF'])
const inner = 'GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'
const post = 'POST /v1/api-keys HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n'
/** What two parsers may read differently: the second request must be seen by neither. */
const smuggled: Record<string, string> = {
  'Content-Length and Transfer-Encoding': `${post}Content-Length: ${inner.length + 5}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${inner}`,
  'two Content-Lengths': `${post}Content-Length: 0\r\nContent-Length: ${inner.length}\r\n\r\n${inner}`,
  'a folded line': `${post}X-Fold: a\r\n Transfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n${inner}`,
  'a bare LF': `${post}X-A: b\nContent-Length: 0\r\n\r\n${inner}`,
  'an unknown coding': `${post}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${inner}`,
  'a space before the colon': `${post}Content-Length : ${inner.length}\r\n\r\n${inner}`,
}

export const clientsFaults: Fault[] = [
  clientsFault({
    name: 'slowloris',
    does: '500 connections send a byte of their head each second for 70 s',
    goal: 'each is cut off',
    async attack({ port }) {
      const sockets = await openMany(port, 500)
      const start = 'GET /health HTTP/1.1\r\nHost: x\r\nX-Slow: '
      sockets.forEach((socket) => socket.resume().write(start))
      // Node looks for late requests twice a minute.
      for (
        let i = 0;
        i < 95 && sockets.some(({ destroyed, readableEnded }) => !destroyed && !readableEnded);
        i++
      ) {
        await pause(1_000)
        for (const socket of sockets) if (!socket.readableEnded && socket.writable) socket.write('a')
      }
      const left = sockets.filter(({ destroyed, readableEnded }) => !destroyed && !readableEnded).length
      for (const socket of sockets) socket.destroy()
      return [left > 0 && `${left} were still connected after 95 s`]
    },
  }),
  clientsFault({
    name: 'idle-connections',
    does: '5,000 connections ask nothing for 10 s',
    async attack({ port }) {
      const sockets = await openMany(port, 5_000)
      const lost = sockets.filter(({ destroyed }) => destroyed).length
      await pause(10_000)
      for (const socket of sockets) socket.destroy()
      return [lost > 0 && `${lost} were refused`]
    },
  }),
  clientsFault({
    name: 'no-readers',
    does: '200 connections ask for half a megabyte twenty times each and read nothing for 35 s',
    async attack({ port }) {
      const sockets = await openMany(port, 200)
      for (const socket of sockets) socket.pause().write(inner.repeat(20))
      await pause(35_000)
      for (const socket of sockets) socket.destroy()
      return []
    },
  }),
  clientsFault({
    name: 'endless-chunks',
    does: '100 connections send bodies without end for 10 s',
    goal: 'each is cut off',
    async attack({ port }, { callers }) {
      const sockets = await openMany(port, 100)
      const key = `Authorization: Bearer ${callers[0]?.apiKey}\r\n`
      const chunk = `4000\r\n${'a'.repeat(0x4000)}\r\n`
      const closed = sockets.map((socket) => once(socket, 'close').catch(() => undefined))
      for (const socket of sockets) {
        socket.resume().write(`${post}${key}Transfer-Encoding: chunked\r\n\r\n`)
        const more = () => {
          while (socket.writable && socket.write(chunk));
        }
        socket.on('drain', more).once('end', () => socket.destroy())
        more()
      }
      await Promise.race([Promise.all(closed), pause(10_000)])
      const left = sockets.filter(({ destroyed }) => !destroyed).length
      for (const socket of sockets) socket.destroy()
      return [left > 0 && `${left} went on sending for 10 s`]
    },
  }),
  clientsFault({
    name: 'odd-requests',
    does: 'pipelining, half-open connections, HTTP/1.0, Expect, and six ways of smuggling, direct and through HAProxy',
    goal: 'each is answered as RFC 9112 has it, nothing smuggled is answered, nobody gets a response to others',
    async attack({ port }, { haproxy, origin }) {
      const health = 'GET /health HTTP/1.1\r\nHost: x\r\n'
      const halfOpen = statusesOf(await say(port, `${health}\r\n`, true))
      const misses = [
        await expectStatuses(port, 'pipelining', `${health}\r\n`.repeat(20), ...Array<number>(20).fill(200)),
        halfOpen.join() !== '200' && `half-open: answered ${halfOpen.join(', ') || 'nothing'}`,
        await expectStatuses(port, 'HTTP/1.0', 'GET /health HTTP/1.0\r\n\r\n', 200),
        await expectStatuses(
          port,
          'Expect',
          `${post}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n{}`,
          100,
          401,
        ),
        await expectStatuses(port, 'an unknown Expect', `${health}Expect: tea\r\n\r\n`, 417),
      ]
      for (const [what, text] of Object.entries(smuggled)) {
        misses.push(await expectStatuses(port, what, text, 400))
        const victims = Array.from({ length: 10 }, async () => (await fetch(`${origin}/health`)).text())
        const answer = await say(haproxy.port, text)
        const strange = (await Promise.all(victims)).filter((body) => !body.includes('"service"'))
        if (strange.length > 0) misses.push(`${what}: ${strange.length} got the answer of another`)
        // HAProxy may take the rest for a request of the same client, which it then is for both.
        if (statusesOf(answer).length > 2) misses.push(`${what}: more answers than requests`)
      }
      return misses
    },
  }),
]
