import { sql } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { eraseWorkspace } from '../../src/areas/workspaces/ownership/ownership.repository.ts'
import { prepareErasure } from '../../src/db/sql/erasures.ts'
import { createOAuthTester } from '../support/oauth-client.ts'
import { clone, selectRows, startTestApp } from '../support/test-app.ts'

const service = await startTestApp({ environment: { DATABASE_URL: await clone() } })
const { db } = service
const { createHost } = createOAuthTester(service)
const pieces = 1_000

/** Adds seeds with ten pieces of evidence each, and a comment on each piece. */
const fill = (workspaceId: string) =>
  db.execute(sql`
    with added as (
      insert into seeds (id, workspace_id, title, summary, status, created_at, updated_at)
      select gen_random_uuid(), ${workspaceId}, 'Seed', 'S', 'open', now(), now() from generate_series(1, ${pieces / 10}) returning id
    ), found as (
      insert into evidence (id, workspace_id, seed_id, kind, verdict, summary, author_name, created_at)
      select gen_random_uuid(), ${workspaceId}, id, 'note', 'supports', 'E', 'Ada', now() from added, generate_series(1, 10)
      returning id, seed_id
    )
    insert into comments (id, workspace_id, seed_id, evidence_id, body, author_name, created_at)
    select gen_random_uuid(), ${workspaceId}, seed_id, id, 'C', 'Ada', now() from found`)

it('reads each row a few times, also of a workspace that has come since the statistics were made', async () => {
  const [known, other] = [await createHost(), await createHost()]
  await fill(known.workspaceId)
  await db.execute(sql`vacuum analyze`)
  await fill(other.workspaceId)
  const [read] = await db.transaction(async (tx) => {
    await prepareErasure(tx)
    await eraseWorkspace(tx, { id: other.workspaceId, iconKey: null })
    return selectRows<{ times: number }>(
      tx as typeof db,
      sql`select max(idx_tup_fetch + seq_tup_read)::integer / ${pieces} as times from pg_stat_xact_user_tables
        where relname in ('evidence', 'comments')`,
    )
  })
  expect(read?.times).toBeLessThan(10)
  const left = sql`select from comments where workspace_id = ${other.workspaceId}`
  expect(await selectRows(db, left)).toEqual([])
})
