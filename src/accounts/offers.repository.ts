import { and, arrayContains, asc, eq, isNull, ne, or } from 'drizzle-orm'
import type { Executor } from '../db/client.ts'
import { departures } from '../db/schema/departures.ts'
import { memberships } from '../db/schema/memberships.ts'
import { users } from '../db/schema/users.ts'
import { workspaces } from '../db/schema/workspaces.ts'

export type DepartureKind = (typeof departures.$inferSelect)['kind']

/** A workspace that a person may join by the domain of their address. */
export interface OfferRow {
  id: string
  name: string
  slug: string
  iconKey: string | null
  /** How the person stayed out so far, if they did. */
  departure: DepartureKind | null
}

/** Workspaces that a person may join by a domain and is not in, oldest first; one of them, when an id is given. */
export function listOffers(
  executor: Executor,
  input: { userId: string; domain: string; workspaceId?: string; isNew?: boolean; limit: number },
): Promise<OfferRow[]> {
  const { userId, domain, workspaceId, isNew = false, limit } = input
  return executor
    .select({
      id: workspaces.id,
      name: workspaces.name,
      slug: workspaces.slug,
      iconKey: workspaces.iconKey,
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

/** Notes that a person signs in. Returns whether it is for the first time. */
export async function recordFirstSignIn(executor: Executor, userId: string, at: Date): Promise<boolean> {
  const { rowCount } = await executor
    .update(users)
    .set({ firstSignedInAt: at })
    .where(and(eq(users.id, userId), isNull(users.firstSignedInAt)))
  return rowCount === 1
}
