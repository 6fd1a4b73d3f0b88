import type pg from 'pg'

/**
 * Fills a database with as many people as workspaces, each in ten of them: what a service holds that has been used for a
 * while.
 */
export async function fillDatabase(pool: pg.Pool, workspaces: number): Promise<void> {
  const fillers = `generate_series(1, ${workspaces}) as i`
  await pool.query(`
    insert into users (id, email, email_verified_at, name, created_at)
    select md5('filler-user-' || i)::uuid, 'filler-' || i || '@example.com', now(), 'Filler ' || i, now()
    from ${fillers}`)
  await pool.query(`
    insert into workspaces (id, name, slug, creator_user_id, created_at)
    select md5('filler-workspace-' || i)::uuid, 'Filler ' || i, 'filler-' || i, md5('filler-user-' || i)::uuid, now()
    from ${fillers}`)
  await pool.query(`
    insert into workspace_slugs (slug, workspace_id)
    select 'filler-' || i, md5('filler-workspace-' || i)::uuid from ${fillers}`)
  await pool.query(`
    insert into memberships (workspace_id, user_id, role, joined_at, last_used_at)
    select md5('filler-workspace-' || i)::uuid, md5('filler-user-' || ((i + 37 * k) % ${workspaces} + 1))::uuid, 'member',
      now() - i * interval '1 minute', now() - k * interval '1 hour'
    from ${fillers}, generate_series(0, ${Math.min(9, workspaces - 1)}) as k
    on conflict do nothing`)
  await pool.query('analyze')
}
