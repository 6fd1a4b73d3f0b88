import { sql } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { agentGrants } from '../../db/schema/agent-grants.ts'
import { memberships } from '../../db/schema/memberships.ts'
import { isKeptOrMerged, seeds } from '../../db/schema/seeds.ts'
import { teams } from '../../db/schema/teams.ts'
import { users } from '../../db/schema/users.ts'
import { webhooks } from '../../db/schema/webhooks.ts'

/** What an event names, as it is now. */
export interface EventTarget {
  kind: 'seed' | 'user' | 'team' | 'integration' | 'webhook'
  id: string
  name: string
  /** The URL of the picture of a person; null without one, and for what is no person. */
  image: string | null
}

/**
 * Finds which of these ids are seeds, members, teams, webhooks or agents in a workspace, in one statement. Agents
 * whose access has ended still have a page.
 * `grantsOf`: only agents of this person; undefined: of all.
 */
export async function findEventTargets(
  executor: Executor,
  input: {
    workspaceId: string
    ids: readonly string[]
    grantsOf: string | undefined
    pictureUrlPrefix: string
  },
): Promise<EventTarget[]> {
  const { workspaceId, grantsOf = null, pictureUrlPrefix } = input
  const ids = sql`any(${sql.param([...input.ids])}::uuid[])`
  const { rows } = await executor.execute<EventTarget & Record<string, unknown>>(sql`
    select 'seed' as kind, ${seeds.id} as id, ${seeds.title} as name, null as image
    from ${seeds} where ${seeds.workspaceId} = ${workspaceId} and ${seeds.id} = ${ids}
      and ${isKeptOrMerged}
    union all
    select 'user', ${users.id}, ${users.name}, ${pictureUrlPrefix}::text || ${users.imageKey}
    from ${memberships} join ${users} on ${users.id} = ${memberships.userId}
    where ${memberships.workspaceId} = ${workspaceId} and ${memberships.userId} = ${ids}
    union all
    select 'team', ${teams.id}, ${teams.name}, null
    from ${teams} where ${teams.workspaceId} = ${workspaceId} and ${teams.id} = ${ids}
    union all
    select 'integration', ${agentGrants.id}, ${agentGrants.clientName}, null
    from ${agentGrants}
    where ${agentGrants.workspaceId} = ${workspaceId} and ${agentGrants.id} = ${ids}
      and (${grantsOf}::uuid is null or ${agentGrants.userId} = ${grantsOf}::uuid)
    union all
    select 'webhook', ${webhooks.id}, substring(${webhooks.url} from '^https?://([^/?#]+)'), null
    from ${webhooks} where ${webhooks.workspaceId} = ${workspaceId} and ${webhooks.id} = ${ids}`)
  return rows
}
