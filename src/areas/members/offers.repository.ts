import { and, arrayContains, asc, eq, isNull, ne, or } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { departures } from '../../db/schema/departures.ts'
import { memberships } from '../../db/schema/memberships.ts'
import { users } from '../../db/schema/users.ts'
import { workspaceColumns, workspaces } from '../../db/schema/workspaces.ts'

export type DepartureKind = (typeof departures.$inferSelect)['kind']

/** A workspace that allows the domain of a person's email address. */
export interface OfferRow {
  id: string
  name: string
  slug: string
  iconKey: string | null
  /** Whether the person declined, left or was removed; null if none of these. */
  departure: DepartureKind | null
}

/** Lists the workspaces that allow a domain and that a person may join, oldest first; with an id, only that one. */
export function listOffers(
  executor: Executor,
  input: { userId: string; domain: string; workspaceId?: string; isNew?: boolean; limit: number },
): Promise<OfferRow[]> {
  const { userId, domain, workspaceId, isNew = false, limit } = input
  return executor
    .select({
      ...workspaceColumns,
      departure: departures.kind,
    })
    .from(workspaces)
    .leftJoin(memberships, and(eq(memberships.workspaceId, workspaces.id), eq(memberships.userId, userId)))
    .leftJoin(departures, and(eq(departures.workspaceId, workspaces.id), eq(departures.userId, userId)))
    .where(
      and(
        arrayContains(workspaces.allowedDomains, [domain]),
        workspaceId === undefined ? undefined : eq(workspaces.id, workspaceId),
        isNull(memberships.userId),
        isNew ? isNull(departures.kind) : or(isNull(departures.kind), ne(departures.kind, 'removed')),
      ),
    )
    .orderBy(asc(workspaces.id))
    .limit(limit)
}

/** The ids of workspaces that allow a domain, oldest first. */
export async function listWorkspacesAllowing(
  executor: Executor,
  domain: string,
  limit: number,
): Promise<string[]> {
  const rows = await executor
    .select({ id: workspaces.id })
    .from(workspaces)
    .where(arrayContains(workspaces.allowedDomains, [domain]))
    .orderBy(asc(workspaces.id))
    .limit(limit)
  return rows.map(({ id }) => id)
}

/** Records the first sign-in of a person. Returns whether this is the first. */
export async function recordFirstSignIn(executor: Executor, userId: string, at: Date): Promise<boolean> {
  const { rowCount } = await executor
    .update(users)
    .set({ firstSignedInAt: at })
    .where(and(eq(users.id, userId), isNull(users.firstSignedInAt)))
  return rowCount === 1
}
