import { exampleSeeds } from './example-seeds.ts'
import type { Principal } from './domain/principal.ts'
import type { Services } from './services/services.ts'

/** The user that the first start has created, with the secret of their API key. */
export interface FirstUser {
  email: string
  apiKey: string
  /** Signs the user in on the website, once, within a day. */
  signInUrl: string
}

const slug = 'first-workspace'

/** Creates a user with an API key and a workspace with example seeds. Does nothing if the database has a user. */
export async function createFirstUser(services: Services): Promise<FirstUser | undefined> {
  const { accounts, apiKeys, credentials, workspaces } = services
  if (!(await accounts.isEmpty())) return undefined
  const user = await accounts.create({ email: 'ada@example.com', name: 'Ada', isVerified: true })
  const principal: Principal = { user, source: 'system', apiKeyId: null, sessionId: null, grantId: null }
  await workspaces.create(principal, { name: 'First workspace', slug })
  await createExampleSeeds(services, principal)
  const { secret } = await apiKeys.create(principal, { name: 'First run' })
  const { url: signInUrl } = await credentials.createLink('sign_in', user.id)
  return { email: user.email, apiKey: secret, signInUrl }
}

async function createExampleSeeds({ evidence, seeds }: Services, principal: Principal): Promise<void> {
  for (const { seed, evidence: pieces, status } of exampleSeeds) {
    const { id } = await seeds.create(principal, slug, seed)
    for (const piece of pieces) await evidence.add(principal, id, piece)
    await seeds.update(principal, id, { status })
  }
}
