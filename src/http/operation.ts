import type { TSchema } from '@sinclair/typebox'
import { closed } from './schemas.ts'

/** What an operation is, as its area declares it. */
export interface OperationDeclaration {
  /** `area.verb`: the area is the OpenAPI tag and the folder that the operation lives in. */
  id: `${string}.${string}`
  /** One line. */
  summary: string
  /** What the summary leaves open, in Markdown. */
  description?: string
  params?: TSchema
  querystring?: TSchema
  body?: TSchema
  /** The body of the 200 answer. */
  success: TSchema
}

/** The Fastify route schema of an operation: it validates, serializes, types the handler and documents. */
export type OperationSchema<D extends OperationDeclaration> = Pick<
  D,
  Extract<keyof D, 'params' | 'querystring' | 'body'>
> & {
  operationId: D['id']
  tags: string[]
  summary: string
  description?: string
  response: { 200: D['success'] }
}

/**
 * Turns the declaration of an operation into a Fastify route schema. The errors are the same for every operation and
 * are added to the description by http/openapi.ts.
 */
export function operation<const D extends OperationDeclaration>(declaration: D): OperationSchema<D> {
  const { id, success, ...rest } = declaration
  return {
    // An unknown query parameter is refused, so that a misspelt filter does not pass for none.
    querystring: closed({}),
    ...rest,
    operationId: id,
    tags: [id.slice(0, id.indexOf('.'))],
    response: { 200: success },
  } as unknown as OperationSchema<D>
}
