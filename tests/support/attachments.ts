import { expect } from 'vitest'
import type { LightMyRequestResponse } from 'fastify'
import type { Attachment } from '../../src/areas/attachments/attachments.schemas.ts'
import { buildUpload } from './forms.ts'
import type { TestApp, TestPerson } from './test-app.ts'

/** Sends a file. */
export function sendFile(
  { as }: Pick<TestApp, 'as'>,
  person: TestPerson,
  slug: string,
  content: string | Buffer,
  filename = 'notes.txt',
): Promise<LightMyRequestResponse> {
  const form = buildUpload(content, { filename, type: 'application/octet-stream' })
  return as(person, { method: 'POST', url: `/v1/workspaces/${slug}/attachments`, ...form })
}

/** Uploads a file, which nothing uses yet. */
export async function uploadFile(...input: Parameters<typeof sendFile>): Promise<Attachment> {
  const answer = await sendFile(...input)
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json<{ attachment: Attachment }>().attachment
}
