import { createServer } from 'node:http'
import { apiKey } from '@better-auth/api-key'
import { betterAuth } from 'better-auth'
import { getMigrations } from 'better-auth/db/migration'
import { toNodeHandler } from 'better-auth/node'
import { organization } from 'better-auth/plugins'
import pg from 'pg'

// better-auth on Node's HTTP server, on an empty database of its own, with people, organizations and API keys as in the
// database of the service that it is compared with. Its settings are its defaults, except for limits, which the service
// has high too. `GET /fixture` gives the keys, and the ids of organizations.
const readers = 20
const members = 150
const organizations = 10
const writers = 100

const port = Number(process.env.PORT)
const options = {
  baseURL: process.env.BASE_URL,
  secret: process.env.APP_SECRET,
  database: new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 }),
  rateLimit: { enabled: false },
  telemetry: { enabled: false },
  plugins: [
    apiKey({
      enableSessionForAPIKeys: true,
      rateLimit: { enabled: false },
      customAPIKeyGetter: ({ headers }) => headers?.get('authorization')?.replace(/^Bearer /, '') ?? null,
    }),
    organization({ invitationLimit: 100_000, membershipLimit: 100_000 }),
  ],
}
await (await getMigrations(options)).runMigrations()
const auth = betterAuth(options)
const { adapter } = await auth.$context
const fixture = JSON.stringify(await fill())
const answer = toNodeHandler(auth)

createServer((request, response) => {
  if (request.url === '/fixture') response.end(fixture)
  else answer(request, response)
}).listen(port, '127.0.0.1')

async function fill() {
  const reading = await addPeople('Reader', readers)
  const others = await addPeople('Member', members)
  const company = await addOrganization('company', [...reading, ...others])
  for (let i = 0; i < organizations; i++) await addOrganization(`filler-${i}`, reading)
  const writing = await addPeople('Writer', writers)
  const desks = []
  for (const [i, person] of writing.entries()) desks.push(await addOrganization(`desk-${i}`, [person]))
  return { readers: await addKeys(reading), writers: await addKeys(writing), company, desks }
}

async function addPeople(name, count) {
  const ids = []
  for (let i = 0; i < count; i++) {
    const now = new Date()
    const data = {
      name: `${name} ${i}`,
      email: `${name}-${i}@example.com`.toLowerCase(),
      emailVerified: true,
    }
    const { id } = await adapter.create({ model: 'user', data: { ...data, createdAt: now, updatedAt: now } })
    ids.push(id)
  }
  return ids
}

/** Creates an organization, of which the people are admins, and returns its id. */
async function addOrganization(slug, people) {
  const createdAt = new Date()
  const { id } = await adapter.create({ model: 'organization', data: { name: slug, slug, createdAt } })
  for (const userId of people)
    await adapter.create({ model: 'member', data: { organizationId: id, userId, role: 'admin', createdAt } })
  return id
}

async function addKeys(people) {
  const keys = []
  for (const userId of people) keys.push((await auth.api.createApiKey({ body: { userId } })).key)
  return keys
}
