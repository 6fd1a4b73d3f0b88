import { openBigDatabase, openSmallDatabase } from '../databases.ts'
import { repeat, type Area, type Scenario } from '../harness.ts'
import { startBare, startService } from '../subjects.ts'

export const workspaces: Area = {
  name: 'workspaces',
  title: 'Workspaces, ten of them against 10,000 with 100,000 memberships',
  async prepare(bench) {
    const small = await openSmallDatabase(bench)
    const ours = await startService(bench, small)
    const bare = await startBare(bench, small)
    const oursBig = await startService(bench, await openBigDatabase(bench), ', big')
    const read = (name: string, path: string): Scenario => ({
      name,
      load: repeat(() => ({ path })),
      subjects: [ours, bare, oursBig],
      rounds: 5,
      roundSeconds: 1,
      ratios: [
        { of: ours, to: bare },
        { of: oursBig, to: ours, goal: 0.5 },
      ],
    })
    return [
      read('GET /v1/workspaces', '/v1/workspaces'),
      read('GET /v1/workspaces/{slug}', '/v1/workspaces/filler-7'),
    ]
  },
}
