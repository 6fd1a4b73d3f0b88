import { ApiError, errors, type ErrorCode } from '../../kernel/errors.ts'
import type { AgentTool } from './agent-tool.ts'

/** The code of an error, for programs. Tells nothing of unexpected ones. */
export function codeOfError(error: unknown): string {
  return error instanceof ApiError ? error.code : errors.internal.code
}

/** What was wrong, by name, and what to do next, after an error that the agent can correct. */
export function explainError(error: ApiError, advice: AgentTool['advice']): string {
  const field = error.field === null ? '' : ` The argument ${error.field} is wrong.`
  const next = advice[error.code as ErrorCode] ?? retryAdvice(error)
  return `${error.message}${field}${next === '' ? '' : ` ${next}`}`
}

/** What to do after a fault of the service. */
export function explainFault(error: unknown): string {
  const next = error instanceof ApiError ? retryAdvice(error) : ''
  return `This is a fault of the service, not of the arguments. ${next || 'Try again later.'}`
}

/** Whether an error is no fault of the service. */
export function isRefusal(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status < 500
}

function retryAdvice({ retryAfterSeconds }: ApiError): string {
  return retryAfterSeconds === undefined ? '' : `Try again in ${retryAfterSeconds} seconds.`
}
