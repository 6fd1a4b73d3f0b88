import { sql } from 'drizzle-orm'
import { expect } from 'vitest'
import { post } from './company.ts'
import { selectRows, type TestApp, type TestPerson } from './test-app.ts'

/** A comment as the API answers it. */
export interface TestComment {
  id: string
  seedId: string
  evidenceId: string | null
  body: string
  mentions: { userId: string; name: string }[]
  teamMentions: { teamId: string; name: string }[]
  editedAt: string | null
}

/** Comments on a seed through the API. */
export async function createComment(
  { as }: Pick<TestApp, 'as'>,
  author: TestPerson,
  seed: { id: string },
  { body = 'Who says so?', ...rest }: { body?: string; evidenceId?: string; attachmentIds?: string[] } = {},
): Promise<TestComment> {
  const answer = await as(author, post(`/v1/seeds/${seed.id}/comments`, { body, ...rest }))
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json<{ comment: TestComment }>().comment
}

/** Who is told of a comment, and as what. */
export async function findNotices(
  { db }: Pick<TestApp, 'db'>,
  commentId: string,
): Promise<Record<string, string>> {
  const rows = await selectRows<{ userId: string; kind: string }>(
    db,
    sql`select user_id as "userId", kind from notifications where comment_id = ${commentId}`,
  )
  expect(new Set(rows.map(({ userId }) => userId)).size).toBe(rows.length)
  return Object.fromEntries(rows.map(({ userId, kind }) => [userId, kind]))
}
