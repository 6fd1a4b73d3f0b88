import { expect } from 'vitest'
import { errors, statusOfTag, type DecodeIssue, type ErrorFactory } from '../../src/kernel/errors.ts'

/** What injected answers and those read from a socket have in common. */
export interface AnyAnswer {
  statusCode: number
  headers: Record<string, unknown>
  json: () => unknown
}

/**
 * Asserts that an answer is one error of the catalogue, whole: status, headers, and a body of exactly its fields. `more`
 * holds the fields that only some errors have: `issues`, `field`; and the message, where the error has several.
 */
export function expectError(
  answer: AnyAnswer,
  expected: ErrorFactory,
  more: { field?: string | null } | { issues: unknown } | { message: string } = {},
): void {
  const { tag, code, message } = expected
  expect(answer.json()).toEqual({
    _tag: tag,
    code,
    message,
    ...more,
    requestId: answer.headers['x-request-id'],
  })
  expect(answer.statusCode).toBe(statusOfTag[tag])
  expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
  // Its challenge names scopes, which its tests check.
  if (expected === errors.insufficientScope) return
  expect(answer.headers['www-authenticate']).toBe(tag === 'Unauthorized' ? 'Bearer' : undefined)
}

/** The issues of a decode error, whatever they are: at least one, each with the fields that the contract gives it. */
export const anyIssues: unknown = expect.toSatisfy(
  (issues: unknown) => Array.isArray(issues) && issues.length > 0 && issues.every(isIssue),
)

function isIssue(issue: DecodeIssue): boolean {
  const { _tag, path, message, ...rest } = issue
  return (
    ['Missing', 'Unexpected', 'Type', 'Refinement'].includes(_tag) &&
    path.every((step) => ['string', 'number'].includes(typeof step)) &&
    message !== '' &&
    Object.keys(rest).length === 0
  )
}

/** The tags and paths of a decode error's issues in a fixed order: their own is that of the validator. */
export function issuesOf(answer: AnyAnswer): Pick<DecodeIssue, '_tag' | 'path'>[] {
  const { issues } = answer.json() as { issues: DecodeIssue[] }
  return sortIssues(issues.map(({ _tag, path }) => ({ _tag, path })))
}

export function sortIssues<Issue extends Pick<DecodeIssue, 'path'>>(issues: Issue[]): Issue[] {
  return issues.toSorted((a, b) => JSON.stringify(a.path).localeCompare(JSON.stringify(b.path)))
}
