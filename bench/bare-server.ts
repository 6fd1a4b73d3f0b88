import { createHash } from 'node:crypto'
import Fastify, { type FastifyRequest } from 'fastify'
import pg from 'pg'

// The minimal work of each operation: the hash of the key, one prepared statement, and a serialized response. Without
// validation of the key, limits, logging, security headers and request ids.
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

await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT) })

function hashKey({ headers }: FastifyRequest): Buffer {
  const apiKey = headers.authorization?.slice('Bearer '.length) ?? ''
  return createHash('sha256').update(apiKey).digest()
}

async function query(name: string, statement: string, values: unknown[]): Promise<unknown[]> {
  const { rows } = await pool.query<Record<string, unknown>>({ name, text: statement, values })
  if (rows.length === 0) throw new Error('no such key')
  return rows
}
