import { createHash } from 'node:crypto'
import Fastify from 'fastify'
import pg from 'pg'

// The least that GET /v1/me can be: the key's hash, one prepared statement, a serialized answer. No checks of the key's
// form, no limits, no log, no security headers, no request ids.
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 })
const app = Fastify()

const profile = {
  type: 'object',
  properties: {
    id: { type: 'string' },
    name: { type: 'string' },
    email: { type: 'string' },
    image: { type: ['string', 'null'] },
  },
}

app.get('/v1/me', { schema: { response: { 200: profile } } }, async (request) => {
  const apiKey = request.headers.authorization?.slice('Bearer '.length) ?? ''
  const { rows } = await pool.query({
    name: 'profile_by_key',
    text: `select users.id, users.name, users.email, users.image_key as image
      from api_keys join users on users.id = api_keys.user_id
      where api_keys.secret_hash = $1 and api_keys.revoked_at is null`,
    values: [createHash('sha256').update(apiKey).digest()],
  })
  if (rows.length === 0) throw new Error('no such key')
  return rows[0] as unknown
})

await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT) })
