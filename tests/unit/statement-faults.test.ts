import { describe, expect, it } from 'vitest'
import { findStatementFaults } from '../support/statement-faults.ts'

const known = {
  tablesOfWorkspaces: new Set(['seeds', 'teams', 'memberships', 'events']),
  columns: new Set(['id', 'workspace_id', 'seed_id', 'role', 'title']),
}
const faultsOf = (sql: string) => findStatementFaults(sql, known)

describe('a statement', () => {
  it.each([
    [
      'select "id" from "teams" where "teams"."id" = $1 and "workspace_id" = "workspace_id"',
      '"workspace_id" is compared with itself',
    ],
    [
      'select from "seeds" where "seeds"."id" = "seeds"."id" and "seeds"."id" = $1',
      '"seeds"."id" is compared with itself',
    ],
    [
      'select (select max("role") from "memberships" where "workspace_id" = $1 and memberships.user_id = $2) from "teams" where "teams"."id" = $3',
      '"workspace_id" in a subquery has no table',
    ],
    [
      'select "id" from "teams", lateral (select from "seeds" where "team_id" = 1 and seeds.id = "id") as own where "teams"."id" = $3',
      '"id" in a subquery has no table',
    ],
    ['select "title" from "seeds" where "seeds"."title" = $1', 'rows of all workspaces are read from seeds'],
    [
      'select from "teams" join "seeds" as own on own.title = $2 where "teams"."id" = $1',
      'rows of all workspaces are read from seeds',
    ],
    ['delete from "events" where "events"."role" = $1', 'rows of all workspaces are read from events'],
  ])('has a fault: %s', (sql, fault) => {
    expect(faultsOf(sql)).toEqual([fault])
  })

  it.each([
    'select "id", "title" from "seeds" where "seeds"."workspace_id" = $1',
    'select (select count(*) from "seeds" where "seeds"."team_id" = "teams"."id") from "teams" where "teams"."id" = any($1)',
    'select from "teams" inner join (select "id" from "seeds" where "id" = "team_id" and seeds.id = $1) as own on own.id = "teams"."id"',
    'with "own" as (select "id" from "seeds" where "role" = $1 and seeds.id = $2) select from "teams" where "teams"."id" in (select own.id from own)',
    'select count(*) filter (where "round" < 3) from "seeds", lateral (select where "round" < 2) as x where "seeds"."id" = $1',
    `select ')' from "seeds" where seed_id = $1`,
    'delete from "events" where "events"."created_at" < $1',
    'select * from events',
  ])('has none: %s', (sql) => {
    expect(faultsOf(sql)).toEqual([])
  })
})
