import { existsSync } from 'node:fs'
import { createAddress } from '../callers.ts'
import { compare, type Scenario } from '../compare.ts'
import { company } from '../databases.ts'
import type { Area, Subject } from '../harness.ts'
import { pick, repeat, sendNext, type Request } from '../loads.ts'
import { send } from '../same-answer.ts'
import { startService } from '../compared-servers.ts'
import { openWriteDatabase } from '../write-database.ts'
import { keepJobs } from './writes.ts'

/** Few connections: the peer takes so long that the requests in flight would be many of those of a round. */
const atOnce = 10

/** What the peer has: API keys, and ids of organizations. */
interface Fixture {
  readers: string[]
  writers: string[]
  company: string
  /** The organization of each writer. */
  desks: string[]
}

export const peers: Area = {
  name: 'peers',
  title: 'The same operations of better-auth, with its API keys and organizations',
  findObstacle: () =>
    existsSync('bench/peers/node_modules')
      ? undefined
      : 'better-auth is not installed: npm ci --prefix bench/peers',
  async prepare(bench) {
    const original = await openWriteDatabase(bench)
    const database = await bench.copy('peers_service', original, keepJobs)
    const service = await startService(bench, database)
    // PostgreSQL's own, of which new databases are copies.
    const empty = { ...database, url: Object.assign(new URL(database.url), { pathname: '/template1' }).href }
    const peer = await bench.start(
      'better-auth',
      // It reads NODE_ENV while it is imported.
      [
        ...['--import', `data:text/javascript,process.env.NODE_ENV='production'`],
        'bench/peers/better-auth-server.js',
      ],
      await bench.copy('better_auth', empty),
    )
    const fixture = (await (await fetch(`${peer.origin}/fixture`)).json()) as Fixture
    const of = (subject: Subject, callers: readonly string[]) => ({
      ...subject,
      database: { ...subject.database, callers },
    })
    const readers = [of(service, original.readers), of(peer, fixture.readers)] as const
    /** Both answers have a field at least as many times: better-auth answers nobody with 200 too. */
    const read = async (
      name: string,
      oursPath: string,
      peerPath: string,
      [field, times]: [string, number],
    ): Promise<Scenario> => {
      const [ours, theirs] = readers
      const requestOf = (subject: Subject) => ({ path: subject === ours ? oursPath : peerPath })
      for (const subject of readers) {
        const found = (await send(subject, requestOf(subject))).split(`"${field}":`).length - 1
        if (found < times) throw new Error(`${subject.name} gives ${found} of ${times} for ${name}`)
      }
      return { ...common(name, ours, theirs), load: repeat(requestOf, atOnce) }
    }
    const write = async (
      name: string,
      oursOf: (place: number) => Request,
      peerOf: (place: number) => Request,
    ): Promise<Scenario> => {
      const [ours, theirs] = [of(service, original.callers), of(peer, fixture.writers)]
      const requestOf = (place: number, subject: Subject) => {
        const request = subject === ours ? oursOf(place) : peerOf(place)
        return { ...request, token: pick(subject.database.callers, place) }
      }
      for (const subject of [ours, theirs]) await send(subject, requestOf(0, subject))
      return {
        ...common(name, ours, theirs),
        load: sendNext((place, subject) => requestOf(place + 1, subject), atOnce),
      }
    }
    const post = (path: string, body: object): Request => ({
      method: 'POST',
      path,
      body: JSON.stringify(body),
    })
    const slugOf = (place: number) => `created-${place}`
    const nameOf = (place: number) => ({ name: `Writer ${place}` })
    const addressOf = (place: number) => createAddress(`Invited by a peer ${place}`)
    const scenarios = [
      await read('the profile', '/v1/me', '/api/auth/get-session', ['email', 1]),
      await read('the workspaces of a person', '/v1/workspaces', '/api/auth/organization/list', ['slug', 11]),
      await read(
        '100 members',
        `/v1/workspaces/${company.slug}/members`,
        `/api/auth/organization/list-members?limit=100&organizationId=${fixture.company}`,
        ['email', 100],
      ),
      await write(
        'a change of the name',
        (place) => ({ method: 'PATCH', path: '/v1/me', body: JSON.stringify(nameOf(place)) }),
        (place) => post('/api/auth/update-user', nameOf(place)),
      ),
      await write(
        'an invite',
        (place) =>
          post(`/v1/workspaces/${pick(original.slugs, place)}/invites`, {
            email: addressOf(place),
            role: 'member',
          }),
        (place) =>
          post('/api/auth/organization/invite-member', {
            email: addressOf(place),
            role: 'member',
            organizationId: pick(fixture.desks, place),
          }),
      ),
      await write(
        'a new workspace',
        (place) => post('/v1/workspaces', { name: slugOf(place), slug: slugOf(place) }),
        (place) => post('/api/auth/organization/create', { name: slugOf(place), slug: slugOf(place) }),
      ),
    ]
    return scenarios.map((scenario) => compare(bench, scenario))
  },
}

const common = (name: string, ours: Subject, theirs: Subject) => ({
  name,
  subjects: [ours, theirs],
  rounds: 5,
  roundSeconds: 2,
  ratios: [
    { of: ours, to: theirs, by: 'processorMs' as const },
    { of: ours, to: theirs },
  ],
})
