import Fastify, { type FastifyRequest } from 'fastify'
import pg from 'pg'

// The minimal work of reading the validation kit: the query of the grant, the query of the kit, and a serialized
// response. It verifies no token: the token is the id of the grant.
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 })
const app = Fastify()

const text = { type: 'string' }
const nullableText = { type: ['string', 'null'] }
const texts = { type: 'array', items: text }
const object = (properties: object) => ({ type: 'object', properties })

const evidence = {
  id: text,
  seedId: text,
  kind: text,
  verdict: text,
  summary: text,
  sourceUrl: nullableText,
  criterionIds: texts,
  authorUserId: nullableText,
  authorName: text,
  agentName: nullableText,
  createdAt: text,
  editedAt: nullableText,
}
const integer = { type: 'integer' }
const kitSeed = {
  id: text,
  title: text,
  summary: text,
  problem: nullableText,
  audience: nullableText,
  hypothesis: nullableText,
  successCriteria: texts,
  criteria: { type: 'array', items: object({ id: text, text, state: text }) },
  status: text,
  question: nullableText,
  decideBy: nullableText,
  agentName: nullableText,
  leadUserId: nullableText,
  participantCount: integer,
  joined: { type: 'boolean' },
  createdAt: text,
  updatedAt: text,
  url: text,
  evidenceCounts: object({ supports: integer, contradicts: integer, neutral: integer }),
  evidence: { type: 'array', items: object(evidence) },
}
const kit = object({
  version: text,
  generatedAt: text,
  workspace: object({ id: text, name: text, slug: text }),
  grant: object({
    id: text,
    clientName: text,
    userId: text,
    userName: text,
    role: text,
    scopes: texts,
    expiresAt: text,
  }),
  totals: object({ seeds: integer, evidence: integer, comments: { type: ['integer', 'null'] } }),
  truncated: { type: 'boolean' },
  nextCursor: nullableText,
  note: nullableText,
  outline: { type: 'array', items: object({}) },
  summaries: nullableText,
  comments: nullableText,
  participants: nullableText,
  attachments: nullableText,
  seeds: { type: 'array', items: object(kitSeed) },
})

app.post('/agent/v1/validation-kit::read', { schema: { response: { 200: kit } } }, (request) =>
  readKit(request),
)

app.post('/agent/mcp', async (request) => {
  const { params } = request.body as { params: { arguments: { seedId: string } } }
  const structuredContent = await readKit(request, params.arguments.seedId)
  const content = [{ type: 'text', text: JSON.stringify(structuredContent) }]
  return { jsonrpc: '2.0', id: 1, result: { content, structuredContent } }
})

/** The same queries and response as those of the service. */
async function readKit({ headers }: FastifyRequest, seedId?: string) {
  const ofSeed = seedId === undefined ? [] : [seedId]
  const isCounted = `seeds.workspace_id = workspaces.id ${seedId === undefined ? '' : 'and seeds.id = $2'}`
  const [grant] = await query(
    seedId === undefined ? 'grant' : 'grant for seed',
    `select agent_grants.id, client_name, scopes, expires_at, agent_grants.user_id, users.name as user_name, role,
        workspaces.id as workspace_id, workspaces.name, slug,
        (select count(*)::int from seeds where ${isCounted}) as seeds_total,
        (select sum(supports_count + contradicts_count + neutral_count)::int from seeds where ${isCounted}) as evidence_total
      from agent_grants
      join memberships on memberships.workspace_id = agent_grants.workspace_id
        and memberships.user_id = agent_grants.user_id
      join users on users.id = agent_grants.user_id
      join workspaces on workspaces.id = agent_grants.workspace_id
      where agent_grants.id = $1 and revoked_at is null and expires_at > now()`,
    [headers.authorization?.slice('Bearer '.length), ...ofSeed],
  )
  if (!grant) throw new Error('no such grant')
  const rows = await query(
    seedId === undefined ? 'kit' : 'kit of seed',
    `select latest.id, title, summary, problem, audience, hypothesis, success_criteria as "successCriteria", criteria, status, question, decide_by as "decideBy",
        agent_name as "agentName", lead_user_id as "leadUserId",
        participant_count as "participantCount",
        exists (select from seed_participants where seed_id = latest.id and user_id = $2) as joined,
        created_at as "createdAt", updated_at as "updatedAt", supports_count as supports, contradicts_count as contradicts, neutral_count as neutral,
        evidence
      from (
        select * from seeds where workspace_id = $1 and deleted_at is null ${seedId === undefined ? '' : 'and id = $3'}
        order by updated_at desc, id desc limit 51
      ) as latest
      cross join lateral (
        select coalesce(json_agg(json_build_object(
          'id', id, 'seedId', seed_id, 'kind', kind, 'verdict', verdict, 'summary', summary, 'sourceUrl', source_url, 'criterionIds', criterion_ids,
          'authorUserId', author_user_id, 'authorName', author_name, 'agentName', agent_name,
          'createdAt', created_at, 'editedAt', edited_at
        ) order by created_at desc, id desc), '[]') as evidence
        from (
          select * from evidence where seed_id = latest.id and withdrawn_at is null order by created_at desc, id desc limit 20
        ) as newest
      ) as shown
      order by updated_at desc, latest.id desc`,
    [grant.workspace_id, grant.user_id, ...ofSeed],
  )
  return {
    version: '1',
    generatedAt: new Date().toISOString(),
    workspace: { id: grant.workspace_id, name: grant.name, slug: grant.slug },
    grant: {
      id: grant.id,
      clientName: grant.client_name,
      userId: grant.user_id,
      userName: grant.user_name,
      role: grant.role,
      scopes: grant.scopes,
      expiresAt: grant.expires_at,
    },
    totals: { seeds: grant.seeds_total, evidence: grant.evidence_total, comments: null },
    truncated: rows.length > 50,
    nextCursor: null,
    note: null,
    outline: [],
    summaries: null,
    comments: null,
    participants: null,
    attachments: null,
    seeds: rows.slice(0, 50).map(({ supports, contradicts, neutral, evidence: pieces, ...seed }) => ({
      ...seed,
      url: `${process.env.BASE_URL}/w/${String(grant.slug)}/seeds/${String(seed.id)}`,
      evidenceCounts: { supports, contradicts, neutral },
      evidence: (pieces as { createdAt: string }[]).map((piece) => ({
        ...piece,
        createdAt: new Date(piece.createdAt).toISOString(),
      })),
    })),
  }
}

await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT) })

async function query(name: string, statement: string, values: unknown[]): Promise<Record<string, unknown>[]> {
  return (await pool.query<Record<string, unknown>>({ name, text: statement, values })).rows
}
