import { createAgentAccess } from '../agent-access.ts'
import { chains, refresh, refreshInTurn, type Chain } from '../chains.ts'
import { compare } from '../compare.ts'
import { openSmallDatabase } from '../databases.ts'
import type { Area, Subject } from '../harness.ts'
import { assertSame } from '../same-answer.ts'
import { startBareOAuth, startService } from '../compared-servers.ts'

export const refreshes: Area = {
  name: 'refreshes',
  title: `Refreshes of access tokens, ${chains} chains in parallel, against the same provider in memory`,
  isOfVersions: true,
  async prepare(bench) {
    const database = await openSmallDatabase(bench)
    const ours = await startService(bench, database)
    const bare = await startBareOAuth(bench, database)
    const begun = new Map<Subject, Chain[]>([
      [ours, await createAgentAccess(ours, chains)],
      [bare, bench.baseline ? await createAgentAccess(bare, chains) : await readChains(bare)],
    ])
    const chainsOf = (subject: Subject) => begun.get(subject) ?? []
    if (!bench.baseline)
      assertSame(
        [await describeRefresh(ours, chainsOf(ours)), await describeRefresh(bare, chainsOf(bare))],
        'a refresh',
      )
    return [
      compare(bench, {
        name: 'POST /agent/oauth/token',
        load: refreshInTurn(chainsOf),
        subjects: [ours, bare],
        rounds: 5,
        roundSeconds: 1.5,
        // A busy machine answers 400 of them a second, and compiles the service's code during the first 2,500.
        warmUpSeconds: 6,
        ratios: [{ of: ours, to: bare, by: 'processorMs' }],
        goalPerSecond: 900,
      }),
    ]
  },
}

const readChains = async ({ origin }: Subject) => (await (await fetch(`${origin}/chains`)).json()) as Chain[]

/** What a refresh is answered with, except for what differs each time: the claims and the header by name only. */
async function describeRefresh({ origin }: Subject, [chain]: readonly Chain[]): Promise<object> {
  if (!chain) throw new Error('there is no chain')
  const { access_token: token, refresh_token: next, ...rest } = await refresh(origin, chain)
  const [header, claims] = token
    .split('.', 2)
    .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>)
  return {
    ...rest,
    nextLength: next.length,
    algorithm: header?.alg,
    claims: Object.keys(claims ?? {}).sort(),
    scope: claims?.scope,
  }
}
