import { buildApp } from '../src/app.ts'
import type { App } from '../src/http/app-types.ts'
import { createOAuthTester } from '../tests/support/oauth-client.ts'
import type { Subject } from './harness.ts'
import { withServicesOf, type OpenServices } from './services.ts'

/** The credentials of an agent with a grant. */
export interface AgentAccess {
  clientId: string
  grantId: string
  workspaceId: string
  /** One of the seeds of the workspace. */
  seedId: string
  accessToken: string
  refreshToken: string
}

const seeds = 50
const piecesOfEvidence = 20
export const kitSize = `${seeds} seeds of ${piecesOfEvidence} pieces of evidence`

/**
 * Creates a user, a workspace with a full validation kit, and grants for agents. It uses the database, secret and URL
 * of the server, which accepts them like its own.
 */
export function createAgentAccess(subject: Subject, agents: number): Promise<AgentAccess[]> {
  return withServicesOf(
    subject,
    async (open) => {
      const app = await buildApp(open.config, open.services, open.log)
      try {
        return await create({ ...open, app }, agents)
      } finally {
        await app.close()
      }
    },
    { REGISTRATION_LIMIT_PER_MINUTE: '0' },
  )
}

async function create(
  { app, config, db, services }: OpenServices & { app: App },
  agents: number,
): Promise<AgentAccess[]> {
  const createPerson = async () => {
    const email = `host-${Date.now()}@example.com`
    const user = await services.accounts.create({ name: 'Host', email, isVerified: true })
    return { id: user.id, name: user.name, email, apiKey: '', apiKeyId: '' }
  }
  const tester = createOAuthTester({ app, config, services, createPerson })
  const host = await tester.createHost()
  const inserted = await db.$client.query<{ id: string }>(
    `insert into seeds (id, workspace_id, title, summary, problem, status, created_at, updated_at)
      select uuidv7(), $1, 'Seed ' || i, repeat('Summary. ', 20), repeat('Problem. ', 20), 'open', now(),
        now() - i * interval '1 hour'
      from generate_series(1, ${seeds}) as i returning id`,
    [host.workspaceId],
  )
  await db.$client.query(
    `insert into evidence (id, seed_id, kind, verdict, summary, author_user_id, author_name, created_at)
      select gen_random_uuid(), seeds.id, 'interview', (array['supports', 'contradicts', 'neutral'])[k % 3 + 1],
        repeat('Evidence. ', 8), $2, 'Host', now() - k * interval '1 minute'
      from seeds, generate_series(1, ${piecesOfEvidence}) as k where workspace_id = $1`,
    [host.workspaceId, host.id],
  )
  await db.$client.query('vacuum analyze')
  const made: AgentAccess[] = []
  for (let i = 0; i < agents; i++) {
    const agent = await tester.createAgent()
    const { access_token: accessToken, refresh_token: refreshToken } = await tester.getTokens(agent, host)
    const principal = await services.authenticateAgent(accessToken)
    if (!principal) throw new Error('the agent is not let in')
    made.push({
      clientId: agent.clientId,
      grantId: principal.grant.id,
      workspaceId: host.workspaceId,
      seedId: String(inserted.rows[0]?.id),
      accessToken,
      refreshToken,
    })
  }
  return made
}
