import { sql } from 'drizzle-orm'
import { createId } from '../../src/kernel/ids.ts'
import { insertNotification } from './notifications.ts'
import { insertGrant } from './seeds.ts'
import type { Values } from './prepare-request.ts'
import type { TestApp } from './test-app.ts'

type Service = Pick<TestApp, 'db'>

/** How the rows of a list that comes in pages come and go. The values are those of the list's request. */
export interface Rows {
  /** The property by which a row is told from others. */
  key: 'id' | 'userId' | 'workspaceId'
  /** Adds a row made at a time; returns its key. */
  insert: (service: Service, values: Values, at: Date) => Promise<string>
  remove: (service: Service, values: Values, key: string) => Promise<unknown>
}

export const memberRows: Rows = {
  key: 'userId',
  async insert({ db }, { workspaceId }, at) {
    const id = createId()
    await db.execute(sql`
      insert into users (id, email, name, created_at) values (${id}, ${`${id}@example.com`}, 'Filler', now())`)
    await db.execute(sql`
      insert into memberships (workspace_id, user_id, role, joined_at, last_used_at)
      values (${workspaceId}, ${id}, 'viewer', ${at.toISOString()}, now())`)
    return id
  },
  remove: ({ db }, { workspaceId }, id) =>
    db.execute(sql`delete from memberships where workspace_id = ${workspaceId} and user_id = ${id}`),
}

export const inviteRows: Rows = {
  key: 'id',
  async insert({ db }, { workspaceId, actorId }, at) {
    const id = createId()
    await db.execute(sql`
      insert into invites (id, workspace_id, email, role, state, invited_by_user_id, created_at, expires_at)
      values (${id}, ${workspaceId}, ${`${id}@example.com`}, 'member', 'open', ${actorId}, ${at.toISOString()},
        now() + interval '1 day')`)
    return id
  },
  remove: ({ db }, _values, id) => db.execute(sql`delete from invites where id = ${id}`),
}

/** The invites to the person who asks. Each is to another workspace. */
export const ownInviteRows: Rows = {
  key: 'id',
  async insert({ db }, { actorId }, at) {
    const [id, workspaceId, inviterId] = [createId(), createId(), createId()]
    await db.execute(sql`
      insert into users (id, email, name, created_at)
      values (${inviterId}, ${`${inviterId}@example.com`}, 'Filler', now())`)
    await db.execute(sql`
      with other as (
        insert into workspaces (id, name, slug, created_at)
        values (${workspaceId}, 'Filler', ${`w-${workspaceId}`}, now()) returning id)
      insert into memberships (workspace_id, user_id, role, joined_at, last_used_at)
      select id, ${inviterId}, 'owner', now(), now() from other`)
    await db.execute(sql`
      insert into invites
        (id, workspace_id, email, canonical_email, role, state, invited_by_user_id, created_at, expires_at)
      select ${id}, ${workspaceId}, email, canonical_email, 'member', 'open', ${inviterId}, ${at.toISOString()},
        now() + interval '1 day'
      from users where id = ${actorId}`)
    return id
  },
  remove: ({ db }, _values, id) => db.execute(sql`delete from invites where id = ${id}`),
}

/** The workspaces that the person who asks may join. Others do not have the domain of their address. */
export const offerRows: Rows = {
  key: 'workspaceId',
  async insert({ db }, { actorId }, at) {
    const id = createId()
    const address = `me@${actorId}.example`
    await db.execute(sql`
      update users set email = ${address}, canonical_email = ${address}
      where id = ${actorId} and canonical_email like '%@example.com'`)
    await db.execute(sql`
      insert into workspaces (id, name, slug, allowed_domains, created_at)
      select ${id}, 'Filler', ${`w-${id}`}, array[split_part(canonical_email, '@', 2)], ${at.toISOString()}
      from users where id = ${actorId}`)
    return id
  },
  remove: ({ db }, _values, id) =>
    db.execute(sql`update workspaces set allowed_domains = '{}' where id = ${id}`),
}

export const teamRows: Rows = {
  key: 'id',
  async insert({ db }, { workspaceId }, at) {
    const id = createId()
    await db.execute(sql`
      insert into teams (id, workspace_id, name, created_at)
      values (${id}, ${workspaceId}, ${id}, ${at.toISOString()})`)
    return id
  },
  remove: ({ db }, _values, id) => db.execute(sql`delete from teams where id = ${id}`),
}

export const labelRows: Rows = {
  key: 'id',
  async insert({ db }, { workspaceId }, at) {
    const id = createId()
    await db.execute(sql`
      insert into labels (id, workspace_id, name, created_at)
      values (${id}, ${workspaceId}, ${id}, ${at.toISOString()})`)
    return id
  },
  remove: ({ db }, _values, id) => db.execute(sql`delete from labels where id = ${id}`),
}

export const filterRows: Rows = {
  key: 'id',
  async insert({ db }, { workspaceId }, at) {
    const id = createId()
    await db.execute(sql`
      insert into saved_filters (id, workspace_id, name, filters, created_at, updated_at)
      values (${id}, ${workspaceId}, ${id}, '{}', ${at.toISOString()}, now())`)
    return id
  },
  remove: ({ db }, _values, id) => db.execute(sql`delete from saved_filters where id = ${id}`),
}

export const searchRows: Rows = {
  ...teamRows,
  async insert({ db }, { workspaceId }, at) {
    const id = createId()
    await db.execute(sql`
      insert into teams (id, workspace_id, name, created_at)
      values (${id}, ${workspaceId}, ${`Filler ${id}`}, ${at.toISOString()})`)
    return id
  },
}

export const teamMemberRows: Rows = {
  ...memberRows,
  async insert(service, values, at) {
    const id = await memberRows.insert(service, values, at)
    await service.db.execute(sql`
      insert into team_members (team_id, user_id, workspace_id, added_at)
      values (${values.teamId}, ${id}, ${values.workspaceId}, ${at.toISOString()})`)
    return id
  },
}

export const eventRows: Rows = {
  key: 'id',
  async insert({ db }, { workspaceId, actorId }, at) {
    const id = createId()
    await db.execute(sql`
      insert into events (id, workspace_id, type, actor_type, actor_user_id, actor_name, source, summary, created_at)
      values (${id}, ${workspaceId}, 'filler.made', 'user', ${actorId}, 'Olga', 'api', ${`Olga made ${id}`},
        ${at.toISOString()})`)
    return id
  },
  remove: ({ db }, _values, id) => db.execute(sql`delete from events where id = ${id}`),
}

export const seedRows: Rows = {
  key: 'id',
  async insert({ db }, { workspaceId }, at) {
    const id = createId()
    await db.execute(sql`
      insert into seeds (id, workspace_id, title, summary, status, created_at, updated_at)
      values (${id}, ${workspaceId}, ${`Filler ${id}`}, 'Filler', 'open', ${at.toISOString()}, ${at.toISOString()})`)
    return id
  },
  remove: ({ db }, _values, id) => db.execute(sql`delete from seeds where id = ${id}`),
}

export const participantRows: Rows = {
  ...memberRows,
  async insert(service, values, at) {
    const id = await memberRows.insert(service, values, at)
    await service.db.execute(sql`
      insert into seed_participants (seed_id, user_id, workspace_id, joined_at)
      values (${values.seedId}, ${id}, ${values.workspaceId}, ${at.toISOString()})`)
    return id
  },
}

export const evidenceRows: Rows = {
  key: 'id',
  async insert({ db }, { seedId }, at) {
    const id = createId()
    await db.execute(sql`
      insert into evidence (id, seed_id, kind, verdict, summary, author_name, created_at)
      values (${id}, ${seedId}, 'note', 'neutral', ${`Filler ${id}`}, 'Olga', ${at.toISOString()})`)
    return id
  },
  remove: ({ db }, _values, id) => db.execute(sql`delete from evidence where id = ${id}`),
}

export const commentRows: Rows = {
  key: 'id',
  async insert({ db }, { seedId }, at) {
    const id = createId()
    await db.execute(sql`
      insert into comments (id, seed_id, body, author_name, created_at)
      values (${id}, ${seedId}, ${`Filler ${id}`}, 'Olga', ${at.toISOString()})`)
    return id
  },
  remove: ({ db }, _values, id) => db.execute(sql`delete from comments where id = ${id}`),
}

/** Each on another seed. */
export const workspaceCommentRows: Rows = {
  ...commentRows,
  async insert(service, values, at) {
    const seedId = createId()
    await service.db.execute(sql`
      insert into seeds (id, workspace_id, title, summary, status, created_at, updated_at)
      values (${seedId}, ${values.workspaceId}, 'Filler', '', 'open', now(), now())`)
    return commentRows.insert(service, { ...values, seedId }, at)
  },
}

export const grantRows: Rows = {
  key: 'id',
  async insert(service, { workspaceId = '', actorId = '' }, createdAt) {
    const person = { id: actorId, name: 'Olga' }
    return (await insertGrant(service, { id: workspaceId }, person, { createdAt })).id
  },
  remove: ({ db }, _values, id) =>
    db.execute(sql`update agent_grants set revoked_at = now() where id = ${id}`),
}

/** Keys of a person who is in the workspace and not the one who asks, and are bound to it. */
export const keyRows: Rows = {
  key: 'id',
  async insert(service, values, at) {
    const userId = await memberRows.insert(service, values, new Date())
    const id = createId()
    await service.db.execute(sql`
      insert into api_keys (id, user_id, name, secret_hash, token_prefix, last_four, created_at, workspace_ids)
      values (${id}, ${userId}, 'Filler', ${Buffer.from(id)}, 'wsk_Fill', 'ller', ${at.toISOString()},
        array[${values.workspaceId}::uuid])`)
    return id
  },
  remove: ({ db }, _values, id) => db.execute(sql`delete from api_keys where id = ${id}`),
}

export const callRows: Rows = {
  key: 'id',
  async insert({ db }, { grantId }, at) {
    const id = createId()
    await db.execute(sql`
      insert into agent_call_log (grant_id, called_at, id, tool, code)
      values (${grantId}, ${at.toISOString()}, ${id}, 'fetch', 'ok')`)
    return id
  },
  remove: ({ db }, _values, id) => db.execute(sql`delete from agent_call_log where id = ${id}`),
}

export const deliveryRows: Rows = {
  key: 'id',
  async insert({ db }, { webhookId }, at) {
    const id = createId()
    await db.execute(sql`
      insert into webhook_deliveries (webhook_id, event_id, type, status, attempts, created_at)
      values (${webhookId}, ${id}, 'filler.made', 'delivered', 1, ${at.toISOString()})`)
    return id
  },
  remove: ({ db }, { webhookId }, id) =>
    db.execute(sql`delete from webhook_deliveries where webhook_id = ${webhookId} and event_id = ${id}`),
}

export const notificationRows: Rows = {
  key: 'id',
  insert: (service, { workspaceId = '', actorId = '' }, createdAt) =>
    insertNotification(service, { workspaceId, userId: actorId }, { createdAt }),
  remove: ({ db }, _values, id) => db.execute(sql`delete from notifications where id = ${id}`),
}

/** Each on another comment. */
export const requestRows: Rows = {
  key: 'id',
  async insert(service, values, at) {
    const commentId = await workspaceCommentRows.insert(service, values, at)
    const id = createId()
    await service.db.execute(sql`
      insert into agent_requests (id, workspace_id, comment_id, grant_id, agent_name, state, created_at, expires_at)
      values (${id}, ${values.workspaceId}, ${commentId}, ${createId()}, 'Filler', 'answered', ${at.toISOString()},
        ${at.toISOString()})`)
    return id
  },
  remove: ({ db }, _values, id) => db.execute(sql`delete from agent_requests where id = ${id}`),
}
