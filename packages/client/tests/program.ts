// Compiles when the types of the packed client are as programs need them. Run by .ci/client.
import { ApiError, createClient, type Schema } from '@workspace-service/client'
import { verifyWebhook } from '@workspace-service/client/webhooks'

const client = createClient({ baseUrl: 'https://api.example.com', apiKey: 'wsk_x' })
const params = { path: { slug: 'acme' } }

export async function explain(slug: string): Promise<string> {
  try {
    const { workspace } = await client.post('/v1/workspaces', { body: { name: 'Acme', slug } })
    return workspace.id
  } catch (error) {
    if (error instanceof ApiError && error.code === 'slug_taken') return 'Choose another slug.'
    // @ts-expect-error -- no operation answers this code
    if (error instanceof ApiError && error.code === 'slug_token') return ''
    throw error
  }
}

export async function follow(): Promise<void> {
  for await (const { events, cursor } of client.follow('acme', {
    after: 'now',
    types: ['member.role_changed'],
  })) {
    for (const event of events) {
      if (event.type === 'member.role_changed') {
        const before: Schema<'Role'> = event.data.from
        console.log(before, cursor)
      }
      // @ts-expect-error -- other types have no role
      if (event.type === 'seed.created') console.log(event.data.from)
    }
  }
}

export async function list(): Promise<string[]> {
  const names: string[] = []
  for await (const team of client.list('/v1/workspaces/{slug}/teams', { params })) names.push(team.name)
  // @ts-expect-error -- the slug is missing
  client.list('/v1/workspaces/{slug}/teams')
  // @ts-expect-error -- the profile is no list
  client.list('/v1/me')
  return names
}

export async function receive(request: Request, secret: string): Promise<string> {
  const message = await verifyWebhook({ headers: request.headers, body: await request.text() }, secret)
  return message.type === 'webhook.test' ? message.timestamp : message.data.summary
}

// @ts-expect-error -- the body is missing
void client.post('/v1/workspaces')
