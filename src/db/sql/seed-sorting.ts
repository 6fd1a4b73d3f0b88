import { sql, type SQL, type SQLWrapper } from 'drizzle-orm'
import { labels } from '../schema/labels.ts'
import { seeds } from '../schema/seeds.ts'
import { teams } from '../schema/teams.ts'
import { subquery } from '../schema/subquery.ts'

/**
 * Whether a seed is of one of some teams, and has one of some labels; an empty list stands for all. Seeds keep the ids of teams
 * and labels that are gone: they have them no more.
 */
export function isSortedInto({ teamIds, labelIds }: { teamIds: SQLWrapper; labelIds: SQLWrapper }): SQL {
  return subquery(sql`(${teamIds} = '{}' or exists (
      select from ${teams} where ${teams.id} = ${seeds.teamId} and ${teams.id} = any(${teamIds})
    ))
    and (${labelIds} = '{}' or exists (
      select from ${labels} where ${labels.id} = any(${seeds.labelIds}) and ${labels.id} = any(${labelIds})
    ))`)
}
