import type { RouteOptions } from 'fastify'
import type { ErrorFactory } from '../../kernel/errors.ts'
import type { ResponseHeader } from './response-headers.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The errors and headers of the plugins in the scope of the route, for the API description. */
    answers?: Answers
  }
}

/** What a plugin adds to the responses of a route. */
export interface Answers {
  /** The errors that it throws. */
  errors?: readonly ErrorFactory[]
  /** The headers that it sends with successful responses. */
  headers?: readonly ResponseHeader[]
}

/**
 * Adds errors and headers to the API description of a route. A plugin calls it in an `onRoute` hook, next to the hook
 * that throws the errors or sends the headers, so that behavior and description change together.
 */
export function declareAnswers(route: RouteOptions, { errors = [], headers = [] }: Answers): void {
  const declared = route.config?.answers
  route.config = {
    ...route.config,
    answers: {
      errors: [...(declared?.errors ?? []), ...errors],
      headers: [...(declared?.headers ?? []), ...headers],
    },
  }
}
