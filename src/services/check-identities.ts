import { countWithoutIdentity } from '../accounts/identities/identities.repository.ts'
import type { Config } from '../config/config.ts'
import type { Database } from '../db/client.ts'
import { createOidcProvider } from '../platform/identity/oidc-identity.ts'
import type { Finding } from './finding.ts'

const check = 'identity'

/** Reads the document of each identity provider, whose issuer must be the one of the settings. */
export function checkProviders({ oidcProviders, webUrl }: Config): Promise<Finding[]> {
  return Promise.all(
    oidcProviders.map(async (settings) => {
      const { name, issuer } = settings
      try {
        await createOidcProvider(settings, webUrl).check()
        return { check, ok: true, message: `${name} answers as ${issuer}.` }
      } catch (error) {
        const reason = describe(error)
        const message = `Nobody can sign in with ${name} (${issuer}): ${reason}. Check issuer in OIDC_PROVIDERS, which is compared letter by letter.`
        return { check, ok: false, message }
      }
    }),
  )
}

/** Who can sign in by an emailed link alone without passwords. Undefined without identity providers. */
export async function checkPasswords(
  db: Database,
  { entry, oidcProviders }: Config,
): Promise<Finding | undefined> {
  if (oidcProviders.length === 0) return undefined
  const issuers = oidcProviders.map(({ issuer }) => issuer)
  const { without, people } = await countWithoutIdentity(db, issuers)
  const message =
    `${without} of ${people} people have neither a linked account at these providers nor a passkey. ` +
    (entry.hasPasswords
      ? 'With PASSWORDS=off, they would sign in by an emailed link.'
      : 'PASSWORDS=off: they sign in by an emailed link.')
  return { check: 'passwords', ok: true, message }
}

/** Why a request failed: fetch says it in the cause. */
function describe(error: unknown): string {
  const { message = '', cause } = error as { message?: string; cause?: { code?: string; message?: string } }
  if (message !== 'fetch failed') return message || String(error)
  return `it cannot be reached (${cause?.code ?? cause?.message ?? message})`
}
