import { Type } from '@sinclair/typebox'
import { told } from '../../kernel/schemas.ts'
import type { Json } from '../../kernel/json-text.ts'
import type { Page } from '../../kernel/pagination.ts'

/** The `limit` of a call without one. */
export const limitDefault = 50

/** The input of tools that return a page of a list of short items. */
export const pageFields = pageFieldsOf(limitDefault)

/** The input of tools that return a page of a list, with the `limit` of a call without one. */
export function pageFieldsOf(limit: number) {
  return {
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: `Default ${limit}.` })),
    cursor: Type.Optional(
      told(Type.String({ maxLength: 1024, description: 'nextCursor, same filters.' }), 'nextCursor.'),
    ),
  }
}

/** The advice for errors of tools that return a page. */
export const pageAdvice = {
  cursor_invalid: 'Call it again without cursor to start from the first page.',
}

/** A page as the answer of a tool, with its items under a name. */
export function toPageAnswer<Name extends string, Item>(
  name: Name,
  { items, nextCursor }: Page<Item>,
): Json<Record<Name, Item[]> & { nextCursor: string | null }> {
  return `{"${name}":${items},"nextCursor":${JSON.stringify(nextCursor)}}` as Json<
    Record<Name, Item[]> & { nextCursor: string | null }
  >
}
