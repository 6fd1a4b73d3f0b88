import type pg from 'pg'
import type { Subject } from './harness.ts'
import { withServicesOf } from './services.ts'

/** Creates a second user with an API key. */
export function createNeighbour(subject: Subject): Promise<{ apiKey: string }> {
  return withServicesOf(subject, async ({ services }) => {
    const email = `neighbour-${Date.now()}@example.com`
    const user = await services.accounts.create({ name: 'Neighbour', email, isVerified: true })
    const principal = { user, source: 'system' as const, apiKeyId: null, sessionId: null, grantId: null }
    const { secret } = await services.apiKeys.create(principal, { name: 'Bench' })
    return { apiKey: secret }
  })
}

/** Fills workspaces with a full page of seeds and evidence, with texts of maximum length. */
export async function fillWithLongTexts(pool: pg.Pool, workspaceIds: readonly string[]): Promise<void> {
  await pool.query(
    `insert into seeds (id, workspace_id, title, summary, problem, audience, hypothesis, status, created_at, updated_at)
      select gen_random_uuid(), workspace_id, 'Seed ' || i, text, text, text, text, 'open', now(), now() + i * interval '1 s'
      from unnest($1::uuid[]) as workspace_id, generate_series(1, 201) as i, repeat('€uro "', 333) as text`,
    [workspaceIds],
  )
  await pool.query(
    `insert into evidence (id, seed_id, kind, verdict, summary, author_name, created_at)
      select gen_random_uuid(), seeds.id, 'interview', 'supports', repeat('€uro "', 666), 'Host', now()
      from seeds, generate_series(1, 20) where workspace_id = any($1)`,
    [workspaceIds],
  )
  await pool.query('vacuum analyze')
}

/** The id of the seed of a workspace with the longest texts. */
export async function findLargestSeed(pool: pg.Pool, workspaceId: string): Promise<string> {
  const { rows } = await pool.query<{ id: string }>(
    'select id from seeds where workspace_id = $1 order by length(summary) desc limit 1',
    [workspaceId],
  )
  return String(rows[0]?.id)
}
