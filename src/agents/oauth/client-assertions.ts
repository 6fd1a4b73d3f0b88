import { errors, Provider, type Configuration } from 'oidc-provider'
import type { Database } from '../../db/client.ts'
import type { Clock } from '../../kernel/clock.ts'
import { assertionLifetimeSecondsMax } from './protocol.ts'
import type { KeptDocuments } from './documents/kept-documents.ts'
import { hasGrant } from './records/grant-records.repository.ts'

/**
 * What is asked of the JWTs by which clients authenticate (RFC 7523 §2.2), besides what oidc-provider checks: a client that
 * nobody gave access has no keys fetched and nothing stored for it, and no JWT is remembered for long.
 */
export function clientAssertions(options: {
  db: Database
  clock: Clock
  documents: KeptDocuments
}): Required<Pick<Configuration, 'assertJwtClientAuthClaimsAndHeader' | 'fetch'>> {
  const { db, clock, documents } = options
  return {
    // Called for a valid signature, before the id of the JWT is stored.
    async assertJwtClientAuthClaimsAndHeader(_ctx, { exp }, _header, { clientId }) {
      const seconds = Number(exp) - clock.now().getTime() / 1000
      if (!(seconds <= assertionLifetimeSecondsMax))
        throw refusal('the client assertion is valid for too long')
      if (!(await hasGrant(db, clientId))) throw refusal('no person has given this client access')
    },

    // oidc-provider fetches nothing but the keys of clients and their metadata documents, whose URLs are their ids.
    async fetch(input, init) {
      const url = input instanceof Request ? input.url : String(input)
      const { client, entities } = Provider.ctx?.oidc ?? {}
      const { clientId, jwksUri } = client ?? {}
      if (clientId === undefined || jwksUri === undefined || new URL(jwksUri).href !== url)
        return documents.fetchMetadata(url, { init, requestUid: entities?.Interaction?.uid })
      if (!(await hasGrant(db, clientId))) throw refusal('no person has given this client access')
      return documents.fetchKeys(clientId, url, { init })
    },
  }
}

/** The detail is for the log: clients get the same error for all that is wrong. */
const refusal = (detail: string) => new errors.InvalidClientAuth(detail)
