import { atMost, compare } from '../compare.ts'
import { openSmallDatabase } from '../databases.ts'
import type { Area } from '../harness.ts'
import { repeat } from '../loads.ts'
import { assertSameAnswer } from '../same-answer.ts'
import { startBare, startService } from '../compared-servers.ts'

const request = () => ({ path: '/v1/me' })

export const me: Area = {
  name: 'me',
  title: 'The profile, against a bare server',
  isOfVersions: true,
  isAwake: true,
  async prepare(bench) {
    const database = await openSmallDatabase(bench)
    const ours = await startService(bench, database)
    const bare = await startBare(bench, database)
    if (!bench.baseline) await assertSameAnswer([ours, bare], request)
    const subjects = [ours, bare]
    const profile = compare(bench, {
      name: 'GET /v1/me',
      load: repeat(request),
      subjects,
      rounds: 5,
      roundSeconds: 2,
      ratios: [{ of: ours, to: bare, by: 'processorMs', goal: atMost(0.6) }],
    })
    if (bench.baseline) return [profile]
    // A request alone pays for a turn of the event loop, and for caches that other processes have filled meanwhile.
    const onFew = ([1, 4] as const).map((connections) =>
      compare(bench, {
        name: `GET /v1/me, ${connections === 1 ? 'one connection' : `${connections} connections`}`,
        load: repeat(request, connections),
        subjects,
        rounds: 3,
        roundSeconds: 2,
        ratios: [{ of: ours, to: bare, by: 'processorMs' }],
      }),
    )
    return [profile, ...onFew]
  },
}
