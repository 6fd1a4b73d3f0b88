import { createApiKeySecret } from '../../src/kernel/tokens.ts'
import type { TestApp } from './test-app.ts'

/** A request that is counted. */
export const profile = { url: '/v1/me' }

/** Sends a well-formed key that nobody has. */
export const sendBadKey = ({ app }: TestApp, remoteAddress: string) =>
  app.inject({ ...profile, remoteAddress, headers: { 'x-api-key': createApiKeySecret('wsk').secret } })

/** Sends requests one after the other. */
export async function repeat<T>(times: number, send: () => Promise<T>): Promise<T[]> {
  const answers: T[] = []
  for (let i = 0; i < times; i++) answers.push(await send())
  return answers
}
