import { errors, Provider, type Configuration } from 'oidc-provider'
import type { Database } from '../db/client.ts'
import type { Clock } from '../kernel/clock.ts'
import { assertionLifetimeSecondsMax } from './protocol.ts'
import { hasGrant } from './records/grants.repository.ts'

/**
 * What is asked of the JWTs by which clients authenticate (RFC 7523 §2.2), besides what oidc-provider checks: a client that
 * nobody gave access has nothing fetched and stored for it, and no JWT is remembered for long.
 */
export function clientAssertions(options: {
  db: Database
  clock: Clock
  fetch: typeof fetch
}): Required<Pick<Configuration, 'assertJwtClientAuthClaimsAndHeader' | 'fetch'>> {
  const { db, clock } = options
  return {
    // Called for a valid signature, before the id of the JWT is stored.
    async assertJwtClientAuthClaimsAndHeader(_ctx, { exp }, _header, { clientId }) {
      const seconds = Number(exp) - clock.now().getTime() / 1000
      if (!(seconds <= assertionLifetimeSecondsMax))
        throw refusal('the client assertion is valid for too long')
      if (!(await hasGrant(db, clientId))) throw refusal('no person has given this client access')
    },

    async fetch(input, init) {
      const { clientId, jwksUri } = Provider.ctx?.oidc.client ?? {}
      const isKeySet = jwksUri !== undefined && new URL(jwksUri).href === new Request(input).url
      if (isKeySet && !(await hasGrant(db, String(clientId))))
        throw refusal('no person has given this client access')
      return options.fetch(input, init)
    },
  }
}

/** The detail is for the log: clients get the same error for all that is wrong. */
const refusal = (detail: string) => new errors.InvalidClientAuth(detail)
