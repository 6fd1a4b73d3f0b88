import Fastify from 'fastify'
import pg from 'pg'
import { hashKey, timeText } from './bare-parts.ts'

// The minimal work of each operation: the hash of the key, one prepared statement, and a serialized response, or for lists
// the JSON text as PostgreSQL makes it. Without validation of the key, limits, logging, security headers, request ids and
// cursors.
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 })
const app = Fastify()

const text = { type: 'string' }
const nullableText = { type: ['string', 'null'] }
const object = (properties: object) => ({ type: 'object', properties })

const profile = object({ id: text, name: text, email: text, image: nullableText })
const membership = { id: text, name: text, slug: text, iconUrl: nullableText, role: text }
const workspace = object({
  userId: text,
  workspaceId: text,
  name: text,
  slug: text,
  iconUrl: nullableText,
  allowedDomains: { type: 'array', items: text },
  role: text,
})

app.get('/v1/me', { schema: { response: { 200: profile } } }, async (request) => {
  const rows = await query(
    'profile_by_key',
    `select users.id, users.name, users.email, users.image_key as image
      from api_keys join users on users.id = api_keys.user_id
      where api_keys.secret_hash = $1 and api_keys.revoked_at is null`,
    [hashKey(request)],
  )
  return rows[0]
})

app.get(
  '/v1/workspaces',
  { schema: { response: { 200: { type: 'array', items: object(membership) } } } },
  (request) =>
    query(
      'memberships_by_key',
      `select workspaces.id, workspaces.name, workspaces.slug, workspaces.icon_key as "iconUrl", memberships.role
      from api_keys
      join memberships on memberships.user_id = api_keys.user_id
      join workspaces on workspaces.id = memberships.workspace_id
      where api_keys.secret_hash = $1 and api_keys.revoked_at is null
      order by memberships.last_used_at desc`,
      [hashKey(request)],
    ),
)

app.get<{ Params: { slug: string } }>(
  '/v1/workspaces/:slug',
  { schema: { response: { 200: workspace } } },
  async (request) => {
    const rows = await query(
      'workspace_by_key',
      `select memberships.user_id as "userId", workspaces.id as "workspaceId", workspaces.name, workspaces.slug,
        workspaces.icon_key as "iconUrl", workspaces.allowed_domains as "allowedDomains", memberships.role
      from workspace_slugs
      join workspaces on workspaces.id = workspace_slugs.workspace_id
      join memberships on memberships.workspace_id = workspaces.id
      join api_keys on api_keys.user_id = memberships.user_id
      where workspace_slugs.slug = $2 and api_keys.secret_hash = $1 and api_keys.revoked_at is null`,
      [hashKey(request), request.params.slug],
    )
    return rows[0]
  },
)

/** Serves the first page of a list in a workspace; `rows` selects it for the `caller`. `$3` begins the URLs of seeds. */
function serveList(path: string, workspace: string, rows: string): void {
  const hasUrls = rows.includes('$3')
  const statement = `with caller as (
      select memberships.workspace_id, memberships.user_id
      from api_keys
      join memberships on memberships.user_id = api_keys.user_id
      join ${workspace} on ${workspace}.workspace_id = memberships.workspace_id
      where api_keys.secret_hash = $1 and api_keys.revoked_at is null
        and ${workspace}.${workspace === 'seeds' ? 'id' : 'slug'} = $2
    )
    select (select coalesce(json_agg(row_to_json(page)), '[]') from (${rows} limit 100) as page)::text as body
    from caller`
  app.get<{ Params: { of: string } }>(path, async (request, reply) => {
    const [row] = await query(path, statement, [
      hashKey(request),
      request.params.of,
      ...(hasUrls ? [`http://${request.host}/s/`] : []),
    ])
    return reply.type('application/json; charset=utf-8').send(row?.body)
  })
}

serveList(
  '/v1/workspaces/:of/members',
  'workspace_slugs',
  `select user_id as "userId", name, email, image_key as image, role, kind, ${timeText('joined_at')} as "joinedAt", ${timeText('last_activity_at')} as "lastActivityAt", (suspended_at is not null) as suspended
    from memberships join users on users.id = user_id
    where workspace_id = caller.workspace_id
    order by joined_at, user_id`,
)

serveList(
  '/v1/workspaces/:of/events',
  'workspace_slugs',
  `select id, type, actor_type as "actorType", actor_user_id as "actorUserId", actor_name as "actorName",
      grant_id as "grantId", api_key_id as "apiKeyId", source, target_type as "targetType", target_id as "targetId",
      summary, data, ${timeText('created_at')} as "createdAt", workspace_id as "workspaceId",
      $3::text || seed_id || case when target_type in ('comment', 'evidence') then '#' || target_type || '-' || target_id else '' end as url
    from events
    where workspace_id = caller.workspace_id
    order by created_at desc, id desc`,
)

// Members come first, and fill the page, so the invited are not read.
serveList(
  '/v1/workspaces/:of/people',
  'workspace_slugs',
  `select users.id, 'member' as kind, users.id as "userId", users.name, email, image_key as image, role, ${timeText('last_activity_at')} as "lastActivityAt", (suspended_at is not null) as suspended, (
        select coalesce(json_agg(json_build_object('id', teams.id, 'name', teams.name) order by created_at, teams.id), '[]')
        from team_members join teams on teams.id = team_members.team_id
        where team_members.workspace_id = memberships.workspace_id and team_members.user_id = memberships.user_id
      ) as teams
    from memberships join users on users.id = memberships.user_id
    where workspace_id = caller.workspace_id
    order by joined_at, memberships.user_id`,
)

serveList(
  '/v1/workspaces/:of/seeds',
  'workspace_slugs',
  `select id, workspace_id as "workspaceId", $3::text || id as url, title, summary, problem, audience, hypothesis,
      success_criteria as "successCriteria", criteria, status, question, decide_by as "decideBy",
      created_by_user_id as "createdByUserId", agent_name as "agentName", lead_user_id as "leadUserId",
      (select name from users where users.id = created_by_user_id) as "createdByName",
      (select name from users where users.id = lead_user_id) as "leadName",
      team_id as "teamId", (select name from teams where teams.id = team_id) as "teamName",
      (select coalesce(json_agg(json_build_object('id', labels.id, 'name', name)), '[]') from labels where labels.id = any(label_ids)) as labels,
      exists (select from seed_followers where seed_id = seeds.id and user_id = caller.user_id) as following,
      comment_count as "commentCount",
      json_build_object('supports', supports_count, 'contradicts', contradicts_count, 'neutral', neutral_count) as "evidenceCounts",
      participant_count as "participantCount",
      exists (select from seed_participants where seed_id = seeds.id and user_id = caller.user_id) as joined,
      status_reason as "statusReason", case when status in ('validated', 'dropped') then ${timeText('status_changed_at')} end as "decidedAt",
      case when status in ('validated', 'dropped') then status_changed_by_user_id end as "decidedByUserId",
      case when status in ('validated', 'dropped') then status_changed_by_name end as "decidedByName",
      ${timeText('last_evidence_at')} as "lastEvidenceAt", ${timeText('last_comment_at')} as "lastCommentAt",
      ${timeText('activity_at')} as "activityAt", ${timeText('created_at')} as "createdAt", ${timeText('updated_at')} as "updatedAt",
      ${filesOf('seed_id = seeds.id and evidence_id is null and comment_id is null')} as attachments
    from seeds
    where workspace_id = caller.workspace_id and deleted_at is null
    order by created_at desc, id desc`,
)

serveList(
  '/v1/seeds/:of/evidence',
  'seeds',
  `select id, workspace_id as "workspaceId", seed_id as "seedId", kind, verdict, summary, source_url as "sourceUrl", criterion_ids as "criterionIds", author_user_id as "authorUserId",
      author_name as "authorName", agent_name as "agentName", ${timeText('created_at')} as "createdAt",
      ${timeText('edited_at')} as "editedAt", ${timeText('withdrawn_at')} as "withdrawnAt",
      withdrawn_by_name as "withdrawnByName", withdrawn_reason as "withdrawnReason",
      ${filesOf('evidence_id = evidence.id')} as attachments, seen_by_count as "seenByCount",
      exists (select from evidence_seen where evidence_id = evidence.id and user_id = caller.user_id) as "seenByMe"
    from evidence
    where seed_id = $2 and withdrawn_at is null
    order by created_at desc, id desc`,
)

/** The files of which a condition holds, as JSON. Of what is measured, nothing has any. */
function filesOf(condition: string): string {
  return `(
    select coalesce(json_agg(json_build_object('id', attachments.id, 'name', name, 'type', type, 'bytes', bytes)), '[]')
    from attachments where ${condition}
  )`
}

await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT) })

async function query(name: string, statement: string, values: unknown[]): Promise<Record<string, unknown>[]> {
  const { rows } = await pool.query<Record<string, unknown>>({ name, text: statement, values })
  if (rows.length === 0) throw new Error('no such key')
  return rows
}
