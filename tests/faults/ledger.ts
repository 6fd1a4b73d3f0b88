import type { Postgres } from './parts/postgres.ts'

/** What is written under load: the table, the column with the name by which it is found again, and its event. */
const kinds = {
  seed: { table: 'seeds', column: 'title', event: 'seed.created' },
  team: { table: 'teams', column: 'name', event: 'team.created' },
  evidence: { table: 'evidence', column: 'summary', event: 'evidence.added' },
  invite: { table: 'invites', column: 'email', event: 'invite.created' },
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
  /** Acknowledged and not there; there more often than intended. What is there counts with its event. */
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
      for (const [kind, { table, column, event }] of Object.entries(kinds)) {
        const rows = await postgres.query<{ id: string; name: string; events: number }>(
          `select made.id, made.${column} as name, count(events.id)::int as events from ${table} made
            left join events on events.target_id = made.id and events.type = '${event}'
            where made.${column} like $1 group by made.id`,
          [`${run}-%`],
        )
        const ids = new Set(rows.map(({ id }) => id))
        lost += entries.filter((entry) => entry.kind === kind && entry.id && !ids.has(entry.id)).length
        doubled += rows.length - new Set(rows.map(({ name }) => name)).size
        lost += rows.filter(({ events }) => events === 0).length
        doubled += rows.filter(({ events }) => events > 1).length
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
