import { atLeast, atMost, compare } from '../compare.ts'
import { openBigDatabase, openSmallDatabase } from '../databases.ts'
import type { Area } from '../harness.ts'
import { repeat } from '../loads.ts'
import { assertSameAnswer } from '../same-answer.ts'
import { startBare, startService } from '../compared-servers.ts'

const requests = {
  'GET /v1/workspaces': '/v1/workspaces',
  'GET /v1/workspaces/{slug}': '/v1/workspaces/filler-7',
}

export const workspaces: Area = {
  name: 'workspaces',
  title: 'Workspaces, against a bare server, and ten of them against 10,000 with 100,000 memberships',
  isOfVersions: true,
  isAwake: true,
  async prepare(bench) {
    const small = await openSmallDatabase(bench)
    const ours = await startService(bench, small)
    const bare = await startBare(bench, small)
    const big = bench.baseline ? undefined : await startService(bench, await openBigDatabase(bench), ', big')
    // Before any load: a visit of a workspace changes the order of the list.
    if (!bench.baseline)
      for (const path of Object.values(requests)) await assertSameAnswer([ours, bare], () => ({ path }))
    return Object.entries(requests).map(([name, path]) =>
      compare(bench, {
        name,
        load: repeat(() => ({ path })),
        subjects: [ours, bare, ...(big ? [big] : [])],
        rounds: 5,
        roundSeconds: 0.8,
        ratios: [
          { of: ours, to: bare, by: 'processorMs' as const, goal: atMost(0.6) },
          ...(big ? [{ of: big, to: ours, goal: atLeast(0.9) }] : []),
        ],
      }),
    )
  },
}
