import { and, arrayContains, asc, eq, isNull, sql } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { hiddenParameter, pageLimit } from '../../db/sql/hidden-parameter.ts'
import { jsonItem, jsonRows, pictureUrl, readOne, timesOf } from '../../db/sql/json-rows.ts'
import { isAfter } from '../../db/sql/keyset.ts'
import { prepared } from '../../db/sql/prepared.ts'
import { subquery } from '../../db/schema/subquery.ts'
import { departures, type DepartureKind } from '../../db/schema/departures.ts'
import { memberships } from '../../db/schema/memberships.ts'
import { users } from '../../db/schema/users.ts'
import { workspaces } from '../../db/schema/workspaces.ts'
import type { JsonRows, PageRange } from '../../kernel/pagination.ts'
import type { Offer } from './members.schemas.ts'

const isOfPerson = (table: typeof memberships | typeof departures) =>
  and(eq(table.workspaceId, workspaces.id), eq(table.userId, sql.placeholder('userId')))

const isOffered = and(
  isNull(workspaces.deletedAt),
  arrayContains(workspaces.allowedDomains, sql`array[${sql.placeholder('domain')}]::text[]`),
  isNull(memberships.userId),
  // Whether the person declined, left or was removed; null if none of these.
  sql`case when ${hiddenParameter('isNew', 'boolean')} then ${departures.kind} is null
    else ${departures.kind} is distinct from 'removed' end`,
)

const selectOffers = prepared((executor) => {
  const rows = executor
    .select({
      item: jsonItem<Offer>({
        workspaceId: workspaces.id,
        workspaceName: workspaces.name,
        workspaceSlug: workspaces.slug,
        workspaceIconUrl: pictureUrl(workspaces.iconKey),
        memberCount: subquery(sql`(
          select count(*)::int from memberships as members
          join users as people on people.id = members.user_id and people.kind = 'person'
          where members.workspace_id = ${workspaces.id}
        )`),
      }),
      at: workspaces.createdAt,
    })
    .from(workspaces)
    .leftJoin(memberships, isOfPerson(memberships))
    .leftJoin(departures, isOfPerson(departures))
    .where(and(isOffered, isAfter(workspaces.createdAt, workspaces.id)))
    .orderBy(asc(workspaces.createdAt), asc(workspaces.id))
    .limit(pageLimit)
    .as('rows')
  return executor
    .select({ ...jsonRows(rows.item), times: timesOf(rows.at) })
    .from(rows)
    .prepare('workspaces_select_offers')
})

interface OffersQuery {
  userId: string
  domain: string
  /** Only those that the person neither declined nor left. */
  isNew: boolean
}

/** The workspaces that allow a domain and that a person may join, oldest first. */
export function listOffers(
  executor: Executor,
  input: OffersQuery & { pictureUrlPrefix: string } & PageRange,
): Promise<JsonRows & { times: string }> {
  return readOne(selectOffers(executor).execute({ ...input }))
}

const selectOffer = prepared((executor) =>
  executor
    .select({ slug: workspaces.slug, departure: departures.kind })
    .from(workspaces)
    .leftJoin(memberships, isOfPerson(memberships))
    .leftJoin(departures, isOfPerson(departures))
    .where(and(eq(workspaces.id, sql.placeholder('workspaceId')), isOffered))
    .prepare('workspaces_select_offer'),
)

/** A workspace, if it allows a domain and a person may join it, and how they left it before; null if they did not. */
export async function findOffer(
  executor: Executor,
  input: OffersQuery & { workspaceId: string },
): Promise<{ slug: string; departure: DepartureKind | null } | undefined> {
  const [offer] = await selectOffer(executor).execute({ ...input })
  return offer
}

/** Whether there is a workspace that allows a domain and that a person neither declined nor left. */
export async function hasNewOffer(
  executor: Executor,
  input: { userId: string; domain: string },
): Promise<boolean> {
  const rows = await selectNewOffer(executor).execute({ ...input, isNew: true })
  return rows.length > 0
}

const selectNewOffer = prepared((executor) =>
  executor
    .select({ id: workspaces.id })
    .from(workspaces)
    .leftJoin(memberships, isOfPerson(memberships))
    .leftJoin(departures, isOfPerson(departures))
    .where(isOffered)
    .limit(1)
    .prepare('workspaces_select_new_offer'),
)

/** The ids of workspaces that allow a domain, oldest first. */
export async function listWorkspacesAllowing(
  executor: Executor,
  domain: string,
  limit: number,
): Promise<string[]> {
  const rows = await executor
    .select({ id: workspaces.id })
    .from(workspaces)
    .where(and(arrayContains(workspaces.allowedDomains, [domain]), isNull(workspaces.deletedAt)))
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
