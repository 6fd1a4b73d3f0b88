import { sql, type Column, type SQL } from 'drizzle-orm'
import { partsOfSeedPages } from '../../domain/page-urls.ts'
import type { comments } from '../schema/comments.ts'
import type { events } from '../schema/events.ts'

/** The permanent URL of a seed's page, made with the statement's `seedUrlPrefix` (`domain/page-urls.ts`). */
export function seedUrl(seedId: Column | SQL): SQL<string> {
  return sql<string>`${sql.placeholder('seedUrlPrefix')}::text || ${seedId}`
}

/** The permanent URL of a comment, as `toCommentUrl` makes it. */
export function commentUrl({ id, seedId }: typeof comments): SQL<string> {
  return sql<string>`${seedUrl(seedId)} || '#comment-' || ${id}`
}

const parts = sql.raw(partsOfSeedPages.map((part) => `'${part}'`).join(', '))

/** The URL of what an event is about, as `toEventUrl` makes it; null for what has none. */
export function eventUrl({ seedId, targetType, targetId }: typeof events): SQL<string | null> {
  return sql<string | null>`${seedUrl(seedId)} ||
    case when ${targetType} in (${parts}) then '#' || ${targetType} || '-' || ${targetId} else '' end`
}
