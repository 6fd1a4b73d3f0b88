import { isDeepStrictEqual } from 'node:util'
import type { Subject } from './harness.ts'
import type { Request } from './loads.ts'

/** Sends a request once, as the first of the callers by default. Throws unless it is answered with 200. */
export async function send({ origin, database }: Subject, request: Request): Promise<string> {
  const { method = 'GET', path, body, token = database.callers[0] } = request
  const headers = {
    ...request.headers,
    ...(body !== undefined && { 'content-type': 'application/json' }),
    authorization: `Bearer ${token}`,
  }
  const answer = await fetch(origin + path, { method, headers, ...(body !== undefined && { body }) })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${path} is answered with ${answer.status}: ${text}`)
  return text
}

/** Throws unless compared servers give the same JSON, except for their own origins and the fields named in `volatile`. */
export async function assertSameAnswer(
  subjects: readonly Subject[],
  requestOf: (subject: Subject) => Request,
  volatile: readonly string[] = [],
): Promise<void> {
  const bodies: unknown[] = []
  for (const subject of subjects)
    bodies.push(
      withoutFields((await send(subject, requestOf(subject))).replaceAll(subject.origin, ''), volatile),
    )
  assertSame(bodies, subjects[0] ? requestOf(subjects[0]).path : '')
}

export function assertSame(values: readonly unknown[], what: string): void {
  if (values.every((value) => isDeepStrictEqual(value, values[0]))) return
  throw new Error(
    `${what} differs:\n${values.map((value) => JSON.stringify(value).slice(0, 600)).join('\n')}`,
  )
}

function withoutFields(json: string, names: readonly string[]): unknown {
  return JSON.parse(json, (name, value: unknown) => (names.includes(name) ? undefined : value))
}
