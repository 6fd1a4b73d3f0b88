import type { Principal } from './kernel/principal.ts'
import type { Services } from './services.ts'

/** Whom the first run made, and the one time that their key can be read. */
export interface FirstPerson {
  email: string
  apiKey: string
  /** The link that signs them in on the website, once, within a day. */
  signInUrl: string
}

/** Makes a first person with a workspace and an API key, so that an empty database can be tried out. Does nothing when there is anybody. */
export async function createFirstPerson({
  accounts,
  apiKeys,
  credentials,
  workspaces,
}: Services): Promise<FirstPerson | undefined> {
  if (!(await accounts.isEmpty())) return undefined
  const user = await accounts.create({ email: 'ada@example.com', name: 'Ada', isVerified: true })
  const principal: Principal = { user, source: 'system', apiKeyId: null, grantId: null }
  await workspaces.create(principal, { name: 'First workspace', slug: 'first-workspace' })
  const { secret } = await apiKeys.create(principal, { name: 'First run' })
  const { url: signInUrl } = await credentials.createLink('sign_in', user.id)
  return { email: user.email, apiKey: secret, signInUrl }
}
