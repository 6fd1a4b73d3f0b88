import { sql } from 'drizzle-orm'
import { expect } from 'vitest'
import { createId } from '../../src/kernel/ids.ts'
import { get } from './company.ts'
import { selectRows, type TestApp, type TestPerson } from './test-app.ts'

/** A notification as the API tells it. */
export interface TestNotification {
  id: string
  kind: string
  workspaceSlug: string
  workspaceName: string
  seedId: string | null
  seedTitle: string | null
  actorName: string
  agentName: string | null
  text: string
  path: string
  createdAt: string
  readAt: string | null
}

const newRole: object = { role: 'admin' }

/** Tells somebody of something, without the change that it is about. Returns the id. */
export async function insertNotification(
  { db }: Pick<TestApp, 'db'>,
  { workspaceId, userId }: { workspaceId: string; userId: string },
  {
    kind = 'role_changed',
    seedId = null as string | null,
    commentId = null as string | null,
    actorUserId = null as string | null,
    actorName = 'Grace Hopper',
    agentName = null as string | null,
    data = newRole,
    createdAt = new Date(),
    readAt = null as Date | null,
  } = {},
): Promise<string> {
  const id = createId()
  await db.execute(sql`
    insert into notifications (user_id, id, workspace_id, kind, seed_id, comment_id, actor_user_id, actor_name,
      agent_name, data, created_at, read_at)
    values (${userId}, ${id}, ${workspaceId}, ${kind}, ${seedId}, ${commentId}, ${actorUserId}, ${actorName},
      ${agentName}, ${JSON.stringify(data)}, ${createdAt.toISOString()}, ${readAt?.toISOString() ?? null})`)
  return id
}

/** Writes a comment, without the service. Returns its id. */
export async function insertComment(
  { db }: Pick<TestApp, 'db'>,
  { seedId, author, body = 'What do you think?' }: { seedId: string; author: TestPerson; body?: string },
): Promise<string> {
  const id = createId()
  await db.execute(sql`
    insert into comments (id, seed_id, body, author_user_id, author_name, created_at)
    values (${id}, ${seedId}, ${body}, ${author.id}, ${author.name}, now())`)
  return id
}

/** What a person is told of, newest first. */
export async function listNotifications(
  { as }: Pick<TestApp, 'as'>,
  person: { apiKey: string },
  query = '',
): Promise<TestNotification[]> {
  const answer = await as(person, get(`/v1/me/notifications${query}`))
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json()
}

/** Which notifications of a person have been read, and which mailed. */
export function findNotifications({ db }: Pick<TestApp, 'db'>, { id }: { id: string }) {
  return selectRows<{ id: string; kind: string; isRead: boolean; isMailed: boolean }>(
    db,
    sql`select id, kind, read_at is not null as "isRead", mailed_at is not null as "isMailed"
      from notifications where user_id = ${id} order by created_at, id`,
  )
}
