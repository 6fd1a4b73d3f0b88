import { randomUUID } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { expect } from 'vitest'
import type { Role } from '../../src/domain/roles.ts'
import { createId } from '../../src/kernel/ids.ts'
import { selectRows, type TestApp, type TestPerson } from './test-app.ts'

/** A workspace made for a test. */
export interface TestWorkspace {
  id: string
  name: string
  slug: string
}

/** A slug that no other test has. */
export const randomSlug = (start = 'acme') => `${start}-${randomUUID().slice(0, 8)}`

/** Creates a workspace through the API; the person becomes its owner. */
export async function createWorkspace(
  { as }: Pick<TestApp, 'as'>,
  owner: TestPerson,
  { name = 'Acme', slug = randomSlug() } = {},
): Promise<TestWorkspace> {
  const answer = await as(owner, { method: 'POST', url: '/v1/workspaces', payload: { name, slug } })
  expect(answer.statusCode).toBe(200)
  return answer.json<{ workspace: TestWorkspace }>().workspace
}

/** Puts a person into a workspace, last used when they joined. */
export async function addMember(
  service: Pick<TestApp, 'db'>,
  workspace: { id: string },
  person: { id: string },
  role: Role,
  at = new Date(),
): Promise<void> {
  await addMembers(service, workspace, [{ person, role, at }])
}

/**
 * Puts people into a workspace, each last used when they joined. In the same statement they join another one, which they have
 * not used for a year: with the opposite role, so that what is read of the wrong workspace is a wrong answer.
 */
export async function addMembers(
  { db }: Pick<TestApp, 'db'>,
  workspace: { id: string },
  members: readonly { person: { id: string }; role: Role; at: Date }[],
): Promise<void> {
  const slug = randomSlug('otto')
  await db.$client.query({
    name: 'tests_add_members',
    text: `with given as (
        select * from unnest($2::uuid[], $3::text[], $4::timestamptz[]) as given (user_id, role, at)
      ), own as (
        insert into memberships (workspace_id, user_id, role, joined_at, last_used_at)
        select $1::uuid, user_id, role, at, at from given on conflict do nothing
      ), otto as (
        insert into users (id, name, email, canonical_email, created_at) values ($6, 'Otto Other', $7, $7, now())
      ), elsewhere as (
        insert into workspaces (id, name, slug, created_at) values ($5, 'Otto & Company', $8, now() - interval '2 years')
      ), slugs as (
        insert into workspace_slugs (slug, workspace_id) values ($8, $5)
      )
      insert into memberships (workspace_id, user_id, role, joined_at, last_used_at)
      select $5, user_id, case role when 'owner' then 'viewer' when 'admin' then 'viewer' else 'owner' end,
        at - interval '1 year', at - interval '1 year' from given
      union all select $5, $6, 'owner', now() - interval '2 years', now() - interval '2 years'`,
    values: [
      workspace.id,
      members.map(({ person }) => person.id),
      members.map(({ role }) => role),
      members.map(({ at }) => at),
      createId(),
      createId(),
      `${slug}@other.example`,
      slug,
    ],
  })
}

/** Lets a workspace allow domains, whoever has added them. */
export async function allowDomains(
  { db }: Pick<TestApp, 'db'>,
  workspace: { id: string },
  domains: readonly string[],
): Promise<void> {
  await db.execute(
    sql`update workspaces set allowed_domains = ${sql.param([...domains])} where id = ${workspace.id}`,
  )
}

/** The events of a workspace, oldest first, without their ids and times. */
export async function findEvents(
  { db }: Pick<TestApp, 'db'>,
  workspace: { id: string },
): Promise<Record<string, unknown>[]> {
  return selectRows(
    db,
    sql`select type, actor_type, actor_user_id, actor_name, grant_id, api_key_id, source, target_type, target_id, summary
      from events where workspace_id = ${workspace.id} order by id`,
  )
}

/** The event of a change that a person makes through the API, in the form of `findEvents`. */
export function eventBy(
  person: TestPerson,
  target: {
    type:
      | 'workspace'
      | 'user'
      | 'invite'
      | 'team'
      | 'label'
      | 'saved_filter'
      | 'seed'
      | 'evidence'
      | 'comment'
      | 'integration'
      | 'webhook'
    id: string
  },
  { type, summary }: { type: string; summary: string },
): Record<string, unknown> {
  return {
    type,
    actor_type: 'user',
    actor_user_id: person.id,
    actor_name: person.name,
    grant_id: null,
    api_key_id: person.apiKeyId,
    source: 'api',
    target_type: target.type,
    target_id: target.id,
    summary,
  }
}

/** The row of a workspace. */
export async function findWorkspace(
  { db }: Pick<TestApp, 'db'>,
  { id }: { id: string },
): Promise<Record<string, unknown> | undefined> {
  return (await selectRows(db, sql`select * from workspaces where id = ${id}`))[0]
}

/** The slugs of a workspace, each with the time until which it is kept: null for the present one. */
export async function findSlugs(
  { db }: Pick<TestApp, 'db'>,
  { id }: { id: string },
): Promise<Record<string, Date | null>> {
  const rows = await selectRows<{ slug: string; kept_until: string | null }>(
    db,
    sql`select slug, kept_until from workspace_slugs where workspace_id = ${id}`,
  )
  return Object.fromEntries(
    rows.map((row) => [row.slug, row.kept_until === null ? null : new Date(row.kept_until)]),
  )
}

/** Allows API keys of a member to transfer and delete the workspace, once each, as the website does after a proof. */
export async function allowActions(
  { db }: Pick<TestApp, 'db'>,
  workspace: { id: string },
  person: { id: string },
): Promise<void> {
  await db.execute(sql`
    insert into workspace_allowances (workspace_id, user_id, action, allowed_until)
    select workspace_id, user_id, unnest(${sql.raw("array['workspaces.transferOwnership', 'workspaces.delete']")}), '2100-01-01'
    from memberships where workspace_id = ${workspace.id} and user_id = ${person.id}
    on conflict do nothing`)
}

/** Deletes a workspace by the API key of an owner, who has allowed it. */
export async function deleteWorkspace(
  service: Pick<TestApp, 'as' | 'db'>,
  owner: TestPerson,
  { id, slug }: Pick<TestWorkspace, 'id' | 'slug'>,
): Promise<void> {
  await allowActions(service, { id }, owner)
  const url = `/v1/workspaces/${slug}/delete`
  const answer = await service.as(owner, { method: 'POST', url, payload: { confirmSlug: slug } })
  expect(answer.statusCode, answer.body).toBe(200)
}
