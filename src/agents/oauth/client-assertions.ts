import { errors, Provider, type Client, type Configuration } from 'oidc-provider'
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
}): Required<Pick<Configuration, 'assertJwtClientAuthClaimsAndHeader' | 'clockTolerance' | 'fetch'>> {
  const { db, clock, documents } = options
  return {
    clockTolerance: clockToleranceSeconds,

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

/**
 * Lets a client with the method `none` and keys (`normalizeMetadata`) authenticate with a key in the requests in which it
 * sends a JWT. oidc-provider knows one method of a client; a JWT that comes with another is refused.
 */
export function acceptKeysOfPublicClients(provider: Provider): void {
  Object.defineProperty(provider.Client.prototype, 'clientAuthMethod', {
    get(this: Client) {
      const method = this.tokenEndpointAuthMethod
      const hasKeys = this.jwks !== undefined || this.jwksUri !== undefined
      const isSigned = Provider.ctx?.oidc.params?.client_assertion !== undefined
      return method === 'none' && hasKeys && isSigned ? 'private_key_jwt' : method
    },
  })
}

/** By how much the clock of a client may differ from that of the service. */
const clockToleranceSeconds = 30

/** What is wrong with a claim, by what oidc-provider and `clientAssertions` say of it. */
const claimFaults: readonly [detail: RegExp, fault: string][] = [
  [/^jwt not active yet$/, `nbf is more than ${clockToleranceSeconds} seconds in the future`],
  [/^jwt expired$/, 'exp is in the past'],
  [/^expiration must/, 'exp is missing'],
  [/valid for too long$/, `exp is more than ${assertionLifetimeSecondsMax / 60} minutes in the future`],
  [/^invalid (?:nbf|iat|exp) value$/, 'nbf, iat or exp is not a number'],
  [/^unique jti/, 'jti is missing'],
  [/must only be used once$/, 'jti was used before'],
  [/^iss /, 'iss is not the id of the client'],
  [/^(?:aud |list of audience|audience)/, 'aud is neither the issuer nor the URL of the endpoint'],
  [/^alg mismatch$/, 'alg is not accepted'],
]

/** Which claim of a JWT a client was refused for; undefined for any other reason. */
export function findClaimFault({
  error_detail: detail = '',
}: {
  error_detail?: string | undefined
}): string | undefined {
  return claimFaults.find(([pattern]) => pattern.test(detail))?.[1]
}

/** The detail is for the log, and `findClaimFault`. */
const refusal = (detail: string) => new errors.InvalidClientAuth(detail)
