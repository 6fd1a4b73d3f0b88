import type { RouteOptions } from 'fastify'
import type { ErrorFactory } from '../kernel/errors.ts'
import type { ResponseHeader } from './response-headers.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What the plugins of the route's scope answer. Only the API description reads it. */
    answers?: Answers
  }
}

/** What a plugin adds to the answers of a route. */
export interface Answers {
  /** The errors that it throws. */
  errors?: readonly ErrorFactory[]
  /** The headers that it sends with successful answers. */
  headers?: readonly ResponseHeader[]
}

/**
 * Adds to the answers that the API description lists for a route. A plugin calls it in an `onRoute` hook, beside the
 * hook that throws the errors or sends the headers, so that behavior and description change together.
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
