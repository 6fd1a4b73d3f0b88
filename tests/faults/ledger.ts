import type { Postgres } from './parts/postgres.ts'

/** What is written under load: the table, and the column with the name by which it is found again. */
const kinds = {
  seed: { table: 'seeds', column: 'title' },
  team: { table: 'teams', column: 'name' },
  evidence: { table: 'evidence', column: 'summary' },
  invite: { table: 'invites', column: 'email' },
} as const

export type Kind = keyof typeof kinds

interface Entry {
  kind: Kind
  name: string
  /** The id of the answer, once there was one. */
  id?: string
}

/** Every write that was intended, and those that were acknowledged, to be held against the database. */
export interface Ledger {
  /** Another name that nothing else has. */
  name: () => string
  intend: (kind: Kind, name: string) => { acknowledge: (body: string) => void }
  /** The version of a seed that was acknowledged last. */
  acknowledgeVersion: (seedId: string, version: number) => void
  /** The addresses of the invites that were acknowledged. */
  invited: () => string[]
  /** Acknowledged and not there; there more often than intended. */
  verify: (postgres: Postgres) => Promise<{ lost: number; doubled: number }>
}

export function createLedger(run: string): Ledger {
  const entries: Entry[] = []
  const versions = new Map<string, number>()
  let names = 0
  return {
    name: () => `${run}-${(names += 1)}`,
    intend(kind, name) {
      const entry: Entry = { kind, name }
      entries.push(entry)
      return {
        acknowledge(body) {
          const answer = JSON.parse(body) as Record<string, { id?: unknown } | undefined>
          entry.id = String(answer[kind]?.id)
        },
      }
    },
    acknowledgeVersion: (seedId, version) => void versions.set(seedId, version),
    invited: () => entries.filter(({ kind, id }) => kind === 'invite' && id).map(({ name }) => name),
    async verify(postgres) {
      let lost = 0
      let doubled = 0
      for (const [kind, { table, column }] of Object.entries(kinds)) {
        const rows = await postgres.query<{ id: string; name: string }>(
          `select id, ${column} as name from ${table} where ${column} like $1`,
          [`${run}-%`],
        )
        const ids = new Set(rows.map(({ id }) => id))
        lost += entries.filter((entry) => entry.kind === kind && entry.id && !ids.has(entry.id)).length
        doubled += rows.length - new Set(rows.map(({ name }) => name)).size
      }
      const seeds = await postgres.query<{ id: string; summary: string }>(
        'select id, summary from seeds where id = any($1)',
        [[...versions.keys()]],
      )
      for (const { id, summary } of seeds) if (Number(summary) < (versions.get(id) ?? 0)) lost += 1
      return { lost, doubled }
    },
  }
}
