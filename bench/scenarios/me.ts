import { openSmallDatabase } from '../databases.ts'
import { repeat, type Area } from '../harness.ts'
import { startBare, startService } from '../subjects.ts'

export const me: Area = {
  name: 'me',
  title: 'The profile, against a bare server',
  async prepare(bench) {
    const database = await openSmallDatabase(bench)
    const ours = await startService(bench, database)
    const bare = await startBare(bench, database)
    return [
      {
        name: 'GET /v1/me',
        load: repeat(() => ({ path: '/v1/me' })),
        subjects: [ours, bare],
        rounds: 5,
        roundSeconds: 4,
        ratios: [{ of: ours, to: bare, goal: 0.9 }],
      },
    ]
  },
}
