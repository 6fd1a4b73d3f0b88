import { and, asc, eq, exists, lt, sql, type SQL } from 'drizzle-orm'
import type { AnyPgColumn } from 'drizzle-orm/pg-core'
import type { Executor } from '../../db/client.ts'
import { searchEntries } from '../../db/schema/search.ts'
import { isCommon, queryOf } from '../../db/sql/common-words.ts'
import { hiddenParameter, pageLimit } from '../../db/sql/hidden-parameter.ts'
import { jsonItem, jsonRows, pictureUrl, readOne, timesOf } from '../../db/sql/json-rows.ts'
import { isAfter } from '../../db/sql/keyset.ts'
import { prepared } from '../../db/sql/prepared.ts'
import { invites, isOpen } from '../../db/schema/invites.ts'
import { memberships } from '../../db/schema/memberships.ts'
import { teamMembers, teams } from '../../db/schema/teams.ts'
import { users } from '../../db/schema/users.ts'
import { bytesBefore } from '../../db/sql/text-bytes.ts'
import { subquery } from '../../db/schema/subquery.ts'
import { pageBytesMax, type JsonRows, type PageRange } from '../../kernel/pagination.ts'
import type { Role } from '../../domain/roles.ts'
import type { UserKind } from '../../domain/service-accounts.ts'
import type { Person } from './people.schemas.ts'

/** Rows of people. */
export interface PeopleRows extends JsonRows {
  /** When each member joined or each invite was created: milliseconds since 1970, separated by commas. */
  times: string
}

/** Which people a list contains: those that match all of it. */
export interface PeopleFilter {
  /** Only people whose name and email address have its words, whole or in part. */
  text?: string | undefined
  role?: Role | undefined
  /** Only members of this team. */
  teamId?: string | undefined
  /** Only members of this kind. */
  kind?: UserKind | undefined
}

interface PeopleQuery extends PageRange {
  workspaceId: string
  pictureUrlPrefix: string
  filter: PeopleFilter
}

type PersonColumns = Parameters<typeof jsonItem<Person>>[0]

const isSuspended = sql<boolean>`(${users.suspendedAt} is not null)`

const teamsOfMember = subquery(sql<{ id: string; name: string }[]>`(
  select coalesce(json_agg(json_build_object('id', ${teams.id}, 'name', ${teams.name}) order by ${teams.createdAt}, ${teams.id}), '[]')
  from ${teamMembers} join ${teams} on ${teams.id} = ${teamMembers.teamId}
  where ${teamMembers.workspaceId} = ${memberships.workspaceId} and ${teamMembers.userId} = ${memberships.userId}
)`)

/** Members of a workspace with their teams, in the order in which they joined; no more than `pageBytesMax`. */
export async function listMemberPeople(
  executor: Executor,
  { filter, ...values }: PeopleQuery,
): Promise<PeopleRows> {
  const statement = isEmpty(filter)
    ? selectMembers[filter.kind ?? 'all'](executor)
    : prepareMembers(executor, '', filter)
  return readOne(statement.execute({ ...values, asked: filter.text }))
}

const selectMembers = {
  all: prepared((executor) => prepareMembers(executor, 'people_select_members')),
  person: prepared((executor) => prepareMembers(executor, 'people_select_persons', { kind: 'person' })),
  service: prepared((executor) => prepareMembers(executor, 'people_select_services', { kind: 'service' })),
}

function isEmpty({ text, role, teamId }: PeopleFilter): boolean {
  return text === undefined && role === undefined && teamId === undefined
}

function prepareMembers(executor: Executor, name: string, filter: PeopleFilter = {}) {
  const { text, role, teamId, kind } = filter
  // A search is planned for its text each time, which takes the size of the workspace into account.
  const workspaceId = isEmpty(filter)
    ? hiddenParameter('workspaceId', 'uuid')
    : sql.placeholder('workspaceId')
  const page = executor
    .select({
      id: users.id,
      name: users.name,
      email: users.email,
      imageKey: users.imageKey,
      role: memberships.role,
      suspended: isSuspended.as('is_suspended'),
      lastActivityAt: memberships.lastActivityAt,
      kind: sql`case ${users.kind} when 'service' then 'service' else 'member' end`.as('kind_of_person'),
      teams: teamsOfMember.as('teams_of_member'),
      at: memberships.joinedAt,
    })
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(
      and(
        eq(memberships.workspaceId, workspaceId),
        text === undefined ? undefined : isFound('person', memberships.userId, filter),
        role === undefined ? undefined : eq(memberships.role, role),
        teamId === undefined ? undefined : isInTeam(executor, teamId),
        // Not as a parameter, for which each execution would be planned.
        kind === undefined ? undefined : sql`${users.kind} = ${sql.raw(`'${kind}'`)}`,
        isAfter(memberships.joinedAt, memberships.userId),
      ),
    )
    .orderBy(asc(memberships.joinedAt), asc(memberships.userId))
    .limit(pageLimit)
    .as('page')
  const order = sql`${page.at}, ${page.id}`
  const sized = executor
    .select({
      ...page._.selectedFields,
      bytesBefore: bytesBefore(sql`octet_length(${page.teams}::text)`, order).as('teams_before'),
    })
    .from(page)
    .as('sized')
  const {
    id,
    kind: kindOfPerson,
    name: personName,
    email,
    imageKey,
    role: roleOfPerson,
    suspended,
    lastActivityAt,
    teams,
    at,
  } = sized
  const person: PersonColumns = {
    ...{ id, kind: sql`${kindOfPerson}`, userId: id, name: personName, email },
    ...{ image: pictureUrl(imageKey), role: roleOfPerson, teams: sql`${teams}` },
    suspended: sql`${suspended}`,
    lastActivityAt,
  }
  const rows = executor
    .select({ item: jsonItem<Person>(person), at })
    .from(sized)
    .where(lt(sized.bytesBefore, pageBytesMax))
    .orderBy(asc(at), asc(id))
    .as('rows')
  return executor
    .select({ ...jsonRows(rows.item), times: timesOf(rows.at) })
    .from(rows)
    .prepare(name)
}

/** Whether a member of a workspace is in one of its teams. */
function isInTeam(executor: Executor, teamId: string): SQL {
  const rows = executor
    .select({ userId: teamMembers.userId })
    .from(teamMembers)
    .where(
      and(
        eq(teamMembers.teamId, teamId),
        eq(teamMembers.workspaceId, memberships.workspaceId),
        eq(teamMembers.userId, memberships.userId),
      ),
    )
  return exists(rows)
}

/** A member, for a page about them. */
export interface MemberPerson extends Pick<
  Person,
  'name' | 'email' | 'image' | 'role' | 'suspended' | 'teams'
> {
  userId: string
  kind: UserKind
  joinedAt: Date
}

const selectMember = prepared((executor) =>
  executor
    .select({
      userId: memberships.userId,
      kind: users.kind,
      name: users.name,
      email: users.email,
      image: pictureUrl(users.imageKey),
      role: memberships.role,
      suspended: isSuspended,
      teams: teamsOfMember,
      joinedAt: memberships.joinedAt,
    })
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(
      and(
        eq(memberships.workspaceId, sql.placeholder('workspaceId')),
        eq(memberships.userId, sql.placeholder('userId')),
      ),
    )
    .prepare('people_select_member'),
)

/** A member with their teams; undefined for a person who is not a member. */
export async function findMemberPerson(
  executor: Executor,
  input: { workspaceId: string; userId: string; pictureUrlPrefix: string },
): Promise<MemberPerson | undefined> {
  const [person] = await selectMember(executor).execute(input)
  return person
}

/** People with a pending invite that has not expired, oldest invite first. */
export async function listInvitedPeople(
  executor: Executor,
  { filter, now, ...values }: PeopleQuery & { now: Date },
): Promise<PeopleRows> {
  const statement = isEmpty(filter) ? selectInvited(executor) : prepareInvited(executor, '', filter)
  return readOne(statement.execute({ ...values, asked: filter.text, now: now.toISOString() }))
}

const selectInvited = prepared((executor) => prepareInvited(executor, 'people_select_invited'))

function prepareInvited(executor: Executor, name: string, filter: PeopleFilter = {}) {
  const { id, email, role, createdAt: at } = invites
  const person: PersonColumns = {
    ...{ id, kind: sql`'invited'`, userId: sql`null`, name: email, email },
    ...{ image: sql`null`, role, teams: sql`'[]'::json` },
    suspended: sql`false`,
    lastActivityAt: sql`null`,
  }
  const rows = executor
    .select({ item: jsonItem<Person>(person), at })
    .from(invites)
    .where(
      and(
        eq(invites.workspaceId, sql.placeholder('workspaceId')),
        isOpen,
        sql`${invites.expiresAt} > ${sql.placeholder('now')}`,
        filter.text === undefined ? undefined : isFound('invited', id, filter),
        filter.role === undefined ? undefined : eq(role, filter.role),
        isAfter(at, id),
      ),
    )
    .orderBy(asc(at), asc(id))
    .limit(pageLimit)
    .as('rows')
  return executor
    .select({ ...jsonRows(rows.item), times: timesOf(rows.at) })
    .from(rows)
    .prepare(name)
}

/**
 * Whether the directory finds a row by its words (docs/design/search.md#people). If most match, only as many as a page may
 * have are looked at, in the order of the list, which is that of the entries too. Their other filters are not known there.
 */
function isFound(of: 'person' | 'invited', id: AnyPgColumn, { role, teamId, kind: only }: PeopleFilter): SQL {
  const query = queryOf(of, { match: 'named' })
  const { words, at, id: entryId, kind, workspaceId } = searchEntries
  const workspace = sql`${sql.placeholder('workspaceId')}::uuid`
  // Compared as text, so that the index of words is used, and no other.
  const all = sql`array(select ${entryId} from ${searchEntries}
    where ${words} @@ ${query} and ${workspaceId}::text = ${workspace}::text)`
  if (of === 'invited' || role !== undefined || teamId !== undefined || only !== undefined)
    return sql`${id} = any(${all})`
  // Kept apart, so that the index of their order is used, and no other.
  const inOrder = sql`select ${entryId}, ${words} from ${searchEntries}
    where ${workspaceId} = ${workspace} and ${kind} = 'person' and ${isAfter(at, entryId)}
    order by ${at}, ${entryId} offset 0`
  const next = sql`array(select id from (${inOrder}) as next_entries where words @@ ${query} limit ${pageLimit})`
  return sql`${id} = any(case when ${isCommon('person', 'named', workspace)} then ${next} else ${all} end)`
}
