import { errors, type Client, type KoaContextWithOIDC } from 'oidc-provider'
import type { Database } from '../../db/client.ts'
import { scopesOfRole } from '../../domain/agent.ts'
import type { Clock } from '../../kernel/clock.ts'
import { offlineScope } from './protocol.ts'
import { findServiceGrant } from './records/service-clients.repository.ts'

/** What oidc-provider has to know of the tokens of service accounts: it issues them to clients, and knows no grants of theirs. */
export interface ServiceTokens {
  /**
   * Reads the grant of the client that asks for a token, and what of it the role of the account allows now. Throws
   * `unauthorized_client` when the access has ended, and `invalid_scope` when the client asks for more.
   */
  prepare(context: KoaContextWithOIDC, client: Client): Promise<void>
  /** The grant of a request that was prepared. */
  grantIdOf(context: KoaContextWithOIDC): string | undefined
}

/** Makes access tokens of clients of service accounts depend on their rows of `agent_grants`, as those of people do. */
export function createServiceTokens({ db, clock }: { db: Database; clock: Clock }): ServiceTokens {
  const grantIds = new WeakMap<object, string>()
  return {
    async prepare({ oidc }, { clientId }) {
      const grant = await findServiceGrant(db, clientId, clock.now())
      if (!grant) throw new errors.UnauthorizedClient('The access of this client has ended.')
      const allowed: string[] = scopesOfRole(grant.role, grant.scopes)
      const { params = {} } = oidc
      const scope = typeof params.scope === 'string' ? params.scope : ''
      const asked = scope.split(' ').filter((scope) => scope !== '' && scope !== offlineScope)
      const refused = asked.find((scope) => !allowed.includes(scope))
      if (refused !== undefined)
        throw new errors.InvalidScope('The client does not have this scope.', refused)
      params.scope = (asked.length === 0 ? allowed : asked).join(' ')
      grantIds.set(oidc, grant.id)
    },

    grantIdOf: ({ oidc }) => grantIds.get(oidc),
  }
}
