import { randomBytes } from 'node:crypto'
import Fastify, { type FastifyReply } from 'fastify'
import pg from 'pg'
import { canonicalizeEmail } from '../src/kernel/email.ts'
import { hash, hashKey, timeText } from './bare-parts.ts'

// The minimal work of each write: one prepared statement, which is its own transaction. It checks the key and the role,
// inserts the rows, the event and the job, and makes the JSON of the answer. Without locks, validation, limits,
// Idempotency-Key and what else the service does.
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 })
const app = Fastify()

const person = `select users.id as user_id, users.name, users.email, users.canonical_email, api_keys.id as api_key_id
  from api_keys join users on users.id = api_keys.user_id
  where api_keys.secret_hash = $1 and api_keys.revoked_at is null`

/** The caller with a workspace: `join` finds it, and a membership of one of the roles is needed. */
const personIn = (join: string, roles: string) => `select person.*, memberships.workspace_id
  from (${person}) as person ${join}
  join memberships on memberships.workspace_id = place.workspace_id and memberships.user_id = person.user_id
  where memberships.role in (${roles})`

const bySlug = 'join workspace_slugs as place on place.slug = $2'
const writers = `'owner', 'admin', 'member'`
const managers = `'owner', 'admin'`

interface EventSql {
  type: string
  targetType: string
  targetId: string
  summary: string
  data: string
  /** Default: none. */
  seedId?: string
  from: string
}

/** An event by the `caller` in the only workspace of the rows of `from`. */
const event = ({ type, targetType, targetId, summary, data, seedId = 'null::uuid', from }: EventSql) => `
  insert into events (id, workspace_id, type, actor_type, actor_user_id, actor_name, api_key_id, source, target_type,
    target_id, summary, data, seed_id, created_at)
  select uuidv7(), workspace_id, '${type}', 'user', user_id, caller.name, api_key_id, 'api', '${targetType}', ${targetId},
    ${summary}, jsonb_build_object(${data}), ${seedId}, now()
  from ${from}`

const job = (name: string, payload: string) =>
  `graphile_worker.add_job('${name}', ${payload}, run_at => now(), max_attempts => 25, job_key_mode => 'preserve_run_at')`

app.patch('/v1/me', async (request, reply) => {
  const { name } = request.body as { name: string }
  return answer(
    reply,
    'update me',
    `with caller as (${person}), changed as (
      update users set name = $2 from caller where users.id = caller.user_id returning users.id
    ), event as (${event({
      type: 'member.updated',
      targetType: 'user',
      targetId: 'user_id',
      summary: `caller.name || ' changed their name'`,
      data: `'userId', user_id, 'fields', '["name"]'::jsonb`,
      from: 'caller join memberships using (user_id)',
    })})
    select '{"ok":true}' as body from changed`,
    [hashKey(request), name],
  )
})

interface SeedBody {
  title: string
  summary: string
  problem: string
  audience: string
  hypothesis: string
  successCriteria: string[]
}

app.post<{ Params: { slug: string } }>('/v1/workspaces/:slug/seeds', async (request, reply) => {
  const { title, summary, problem, audience, hypothesis, successCriteria } = request.body as SeedBody
  return answer(
    reply,
    'create seed',
    `with caller as (${personIn(bySlug, writers)}), seed as (
      insert into seeds (id, workspace_id, title, summary, problem, audience, hypothesis, success_criteria, status,
        created_by_user_id, lead_user_id, created_at, updated_at)
      select uuidv7(), workspace_id, $3, $4, $5, $6, $7, $8::text[], 'open', user_id, user_id, now(), now() from caller
      returning *
    ), participant as (
      insert into seed_participants (seed_id, user_id, workspace_id, joined_at)
      select id, lead_user_id, workspace_id, now() from seed
    ), follower as (
      insert into seed_followers (seed_id, user_id, workspace_id) select id, lead_user_id, workspace_id from seed
    ), event as (${event({
      type: 'seed.created',
      targetType: 'seed',
      targetId: 'seed.id',
      summary: `caller.name || ' created the seed ' || seed.title`,
      data: `'seedId', seed.id, 'title', seed.title`,
      seedId: 'seed.id',
      from: 'caller join seed using (workspace_id)',
    })})
    select json_build_object('ok', true, 'seed', json_build_object(
      'id', id, 'workspaceId', workspace_id, 'url', $9 || id, 'title', title, 'summary', summary, 'problem', problem, 'audience', audience, 'hypothesis', hypothesis,
      'successCriteria', success_criteria, 'criteria', criteria, 'status', status, 'createdByUserId', created_by_user_id,
      'agentName', agent_name, 'createdByName', caller.name, 'leadUserId', lead_user_id, 'leadName', caller.name,
      'question', question, 'decideBy', decide_by, 'teamId', null, 'teamName', null, 'labels', '[]'::json, 'statusReason', null, 'decidedAt', null, 'decidedByUserId', null, 'decidedByName', null,
      'following', true, 'lastEvidenceAt', null, 'lastCommentAt', null, 'activityAt', ${timeText('updated_at')},
      'evidenceCounts', json_build_object('supports', 0, 'contradicts', 0, 'neutral', 0), 'commentCount', 0, 'attachments', '[]'::json,
      'participantCount', 1, 'joined', true, 'createdAt', ${timeText('created_at')}, 'updatedAt', ${timeText('updated_at')}
    ), 'similar', (
      select coalesce(json_agg(json_build_object('id', seeds.id, 'title', seeds.title, 'status', seeds.status, 'url', $9 || seeds.id)), '[]')
      from (
        select search_entries.id from search_entries
        where words @@ search_query(seed.workspace_id, 'seed', true, false, '"' || $3 || '"') limit 5
      ) as found
      join seeds on seeds.id = found.id
    ))::text as body from seed join caller using (workspace_id)`,
    [
      ...[
        hashKey(request),
        request.params.slug,
        title,
        summary,
        problem,
        audience,
        hypothesis,
        successCriteria,
      ],
      `http://${request.host}/s/`,
    ],
  )
})

interface EvidenceBody {
  kind: string
  verdict: string
  summary: string
  sourceUrl: string
}

app.post<{ Params: { id: string } }>('/v1/seeds/:id/evidence', async (request, reply) => {
  const { kind, verdict, summary, sourceUrl } = request.body as EvidenceBody
  const bySeed = `join seeds as place on place.id = $2
    join seed_participants on seed_participants.seed_id = place.id and seed_participants.user_id = person.user_id`
  return answer(
    reply,
    'add evidence',
    `with caller as (${personIn(bySeed, writers)}), seed as (
      update seeds set updated_at = now() from caller where seeds.id = $2 returning seeds.*
    ), piece as (
      insert into evidence (id, workspace_id, seed_id, kind, verdict, summary, source_url, author_user_id, author_name,
        created_at)
      select uuidv7(), workspace_id, $2, $3, $4, $5, $6, user_id, name, now() from caller
      returning *
    ), notice as (
      insert into notifications (user_id, id, workspace_id, kind, seed_id, actor_user_id, actor_name, data, created_at)
      select seed_followers.user_id, uuidv7(), seed_followers.workspace_id, 'evidence', $2, caller.user_id, caller.name,
        jsonb_build_object('evidenceId', piece.id, 'verdict', piece.verdict), now()
      from seed_followers, caller, piece
      where seed_followers.seed_id = $2 and seed_followers.user_id <> caller.user_id
    ), event as (${event({
      type: 'evidence.added',
      targetType: 'evidence',
      targetId: 'piece.id',
      summary: `caller.name || ' added an ' || kind || ' that ' || verdict || ' the seed ' || seed.title`,
      data: `'evidenceId', piece.id, 'seedId', seed.id, 'title', seed.title, 'kind', kind, 'verdict', verdict`,
      seedId: 'seed.id',
      from: 'caller join seed using (workspace_id) join piece using (workspace_id)',
    })})
    select json_build_object('ok', true, 'evidence', json_build_object(
      'id', id, 'workspaceId', piece.workspace_id, 'seedId', seed_id, 'kind', kind, 'verdict', verdict, 'summary', summary, 'sourceUrl', source_url, 'criterionIds', criterion_ids,
      'authorUserId', author_user_id, 'authorName', author_name, 'agentName', agent_name,
      'createdAt', ${timeText('created_at')}, 'editedAt', null, 'withdrawnAt', null, 'withdrawnByName', null,
      'withdrawnReason', null, 'attachments', '[]'::json, 'seenByCount', 0, 'seenByMe', false
    ))::text as body from piece`,
    [hashKey(request), request.params.id, kind, verdict, summary, sourceUrl],
  )
})

app.post<{ Params: { slug: string } }>('/v1/workspaces/:slug/invites', async (request, reply) => {
  const { email, role } = request.body as { email: string; role: string }
  const token = randomBytes(32).toString('base64url')
  return answer(
    reply,
    'create invite',
    `with caller as (${personIn(bySlug, managers)}), invite as (
      insert into invites (id, workspace_id, email, canonical_email, role, state, invited_by_user_id, created_at, expires_at)
      select uuidv7(), workspace_id, $3, $4, $5, 'open', user_id, now(), now() + interval '7 days' from caller
      returning *
    ), token as (
      insert into invite_tokens (token_hash, invite_id) select $6, id from invite
    ), event as (${event({
      type: 'invite.created',
      targetType: 'invite',
      targetId: 'invite.id',
      summary: `caller.name || ' invited ' || invite.email || ' as ' || role`,
      data: `'inviteId', invite.id, 'email', invite.email, 'role', role`,
      from: 'caller join invite using (workspace_id)',
    })}), job as (
      select ${job('send_invite', `json_build_object('inviteId', id, 'requestId', $8::text)`)} from invite
    )
    select json_build_object('ok', true, 'inviteUrl', $7::text, 'invite', json_build_object(
      'id', invite.id, 'email', invite.email, 'role', role, 'status', 'pending', 'invitedByUserId', invited_by_user_id,
      'invitedByName', caller.name, 'createdAt', ${timeText('created_at')}, 'expiresAt', ${timeText('expires_at')},
      'lastSentAt', null, 'delivery', 'waiting'
    ))::text as body from invite, caller, job`,
    [
      hashKey(request),
      request.params.slug,
      email,
      canonicalizeEmail(email),
      role,
      ...[hash(token), `http://${request.host}/invites/${token}`, request.id],
    ],
  )
})

app.post<{ Params: { token: string } }>('/v1/invites/:token/accept', async (request, reply) => {
  return answer(
    reply,
    'accept invite',
    `with caller as (${person}), invite as (
      update invites set state = 'accepted' from invite_tokens, caller
      where token_hash = $2 and invites.id = invite_id and invites.canonical_email = caller.canonical_email
        and state = 'open' and expires_at > now()
      returning invites.*
    ), member as (
      insert into memberships (workspace_id, user_id, role, joined_at, last_used_at)
      select workspace_id, user_id, role, now(), now() from invite, caller
    ), event as (${event({
      type: 'member.joined',
      targetType: 'user',
      targetId: 'user_id',
      summary: `caller.name || ' accepted the invite of ' || inviter.name || ' and joined as ' || role`,
      data: `'userId', user_id, 'name', caller.name, 'role', role, 'inviteId', invite.id, 'invitedByUserId', inviter.id,
        'invitedByName', inviter.name, 'domain', null`,
      from: 'caller, invite join users as inviter on inviter.id = invited_by_user_id',
    })})
    select json_build_object('ok', true, 'workspaceId', workspaces.id, 'slug', workspaces.slug, 'role', role)::text as body
    from invite join workspaces on workspaces.id = workspace_id`,
    [hashKey(request), hash(request.params.token)],
  )
})

await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT) })

async function answer(reply: FastifyReply, name: string, text: string, values: unknown[]) {
  const { rows } = await pool.query<{ body: string }>({ name, text, values })
  if (!rows[0]) throw new Error('the caller may not do this')
  return reply.type('application/json; charset=utf-8').send(rows[0].body)
}
