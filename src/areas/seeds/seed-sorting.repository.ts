import { eq, sql, type SQL } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { labels } from '../../db/schema/labels.ts'
import { seeds } from '../../db/schema/seeds.ts'
import { teams } from '../../db/schema/teams.ts'
import { keysParameter } from '../../db/sql/batch.ts'
import { isSeed, type SeedKey } from '../../db/sql/seed-keys.ts'
import { prepared } from '../../db/sql/prepared.ts'
import { subquery } from '../../db/schema/subquery.ts'
import { seedLabelsMax } from '../../domain/labels.ts'
import { errors } from '../../kernel/errors.ts'
import { isId } from '../../kernel/ids.ts'

/** A team or a label by its name. */
export interface Named {
  id: string
  name: string
}

/** Whether a team is that of a seed. A seed keeps the id of a team that is gone: it has none then. */
export const isTeamOfSeed = eq(teams.id, seeds.teamId)

const isLabelOfSeed = sql`${labels.id} = any(${seeds.labelIds})`

/** Labels as a JSON array, oldest first. */
const labelsWhere = (condition: SQL) =>
  subquery(sql<Named[]>`coalesce((
  select json_agg(label) from (select ${labels.id}, ${labels.name} from ${labels} where ${condition} order by ${labels.id}) as label
), '[]')`)

/**
 * The labels of a seed, as a JSON array. Most seeds have none: then nothing is looked up. A seed keeps the ids of labels that
 * are gone.
 */
export const labelsOfSeed = sql<
  Named[]
>`case when ${seeds.labelIds} = '{}' then '[]'::json else ${labelsWhere(isLabelOfSeed)} end`

/** Whether a seed is of a team that exists. */
export const isOfTeam = (teamId: string) =>
  sql`${seeds.teamId} = (select ${teams.id} from ${teams} where ${teams.id} = ${teamId})`

/** Whether a seed has all of these labels, which exist. */
export const hasLabels = (labelIds: readonly string[]) => {
  const asked = sql`${sql.param([...labelIds])}::uuid[]`
  return sql`${seeds.labelIds} @> ${asked}
    and (select count(*) from ${labels} where ${labels.id} = any(${asked})) = ${labelIds.length}`
}

/** The id of the team of a seed, for statements that lock seeds alone. */
export const teamIdOfSeed = subquery(
  sql<string | null>`(select ${teams.id} from ${teams} where ${isTeamOfSeed})`,
)

/** The ids of the labels of a seed, in their order. */
export const labelIdsOfSeed = subquery(
  sql<string[]>`array(select ${labels.id} from ${labels} where ${isLabelOfSeed} order by ${labels.id})`,
)

const selectAsked = prepared((executor) =>
  executor
    .select({
      team: subquery(sql<Named | null>`(select json_build_object('id', ${teams.id}, 'name', ${teams.name}) from ${teams}
        where ${teams.id} = ${sql.placeholder('teamId')}::uuid and ${teams.workspaceId} = ${sql.placeholder('workspaceId')}::uuid)`),
      labels: labelsWhere(
        sql`${labels.id} = any(${keysParameter('labelIds', 'uuid')}) and ${labels.workspaceId} = ${sql.placeholder('workspaceId')}::uuid`,
      ),
    })
    .from(sql`(select) as nothing`)
    .prepare('seeds_select_team_and_labels'),
)

/** The team and the labels that a seed is to have; undefined if they are not given. */
export interface AskedSorting {
  teamId?: string | null | undefined
  labelIds?: readonly string[] | undefined
}

/** The same, with their names. */
export interface FoundSorting {
  team: Named | null
  labels: Named[]
}

/** Normalizes the given team and labels: the ids of these each once, in their order. Throws `not_found` and `seed_label_limit`. */
export function parseSorting({ teamId, labelIds }: AskedSorting): {
  teamId?: string | null
  labelIds?: string[]
} {
  const ids = labelIds && [...new Set(labelIds)].sort()
  if (ids && ids.length > seedLabelsMax) throw errors.seedLabelLimit({ field: 'labelIds' })
  if ([...(teamId == null ? [] : [teamId]), ...(ids ?? [])].some((id) => !isId(id))) throw errors.notFound()
  return { ...(teamId !== undefined && { teamId }), ...(ids && { labelIds: ids }) }
}

/** Finds a team and labels of a workspace. Throws `not_found` if it lacks one of them. Without any, nothing is asked. */
export async function findSorting(
  executor: Executor,
  { workspaceId, teamId, labelIds = [] }: AskedSorting & { workspaceId: string },
): Promise<FoundSorting> {
  if (teamId == null && labelIds.length === 0) return { team: null, labels: [] }
  const values = { workspaceId, teamId: teamId ?? null, labelIds: [...labelIds] }
  const [found] = await selectAsked(executor).execute(values)
  if (!found || (teamId != null && !found.team) || found.labels.length < labelIds.length)
    throw errors.notFound()
  return found
}

const selectTeam = prepared((executor) =>
  executor
    .select({ id: teams.id, name: teams.name })
    .from(seeds)
    .innerJoin(teams, isTeamOfSeed)
    .where(isSeed)
    .prepare('seeds_select_team'),
)

/** The team of a seed. */
export async function findTeamOfSeed(executor: Executor, seed: SeedKey): Promise<Named | undefined> {
  const [team] = await selectTeam(executor).execute({ ...seed })
  return team
}
