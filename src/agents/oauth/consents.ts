import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Provider } from 'oidc-provider'
import { lockMembersWithCredential, type Changes } from '../../access/change.ts'
import { listMembershipsOfUser, membershipsMax } from '../../areas/workspaces/workspaces.repository.ts'
import type { Database } from '../../db/client.ts'
import type { Clock } from '../../kernel/clock.ts'
import { toAgentScopes, type AgentScope, type GrantDays } from '../../domain/agent.ts'
import { errors } from '../../kernel/errors.ts'
import { createId } from '../../kernel/ids.ts'
import type { Principal } from '../../domain/principal.ts'
import type { Answers } from './answers.ts'
import { nameOfClient } from './documents/client-metadata.ts'
import { findRequestDocument } from './documents/documents.repository.ts'
import { storeDecision } from './records/authorization-decisions.repository.ts'
import { listLiveGrantsOf } from './records/grant-records.repository.ts'
import { giveAccess } from './give-access.ts'
import { documentHostOf, paths } from './protocol.ts'

/** An agent's request for consent. */
export interface ConsentRequest {
  uid: string
  clientId: string
  clientName: string
  clientUri: string | null
  /** The host of the client's metadata document; null for a registered client, whose metadata is unverified. */
  metadataHost: string | null
  /** Where the browser is redirected: a host, or the scheme of a program on the person's computer. */
  redirectTarget: string
  /** The scopes that the agent asks for. The person decides which of them it gets. */
  scopes: AgentScope[]
  /** Whether the person has already allowed or denied it, which holds. */
  isDecided: boolean
}

/** What a person gives to an agent. */
export interface Choice {
  workspaceId: string
  /** Besides the scope that every grant has. */
  scopes: readonly AgentScope[]
  /** Whether other members may ask the agent, as far as its scopes allow that. By default they may not. */
  membersMayAsk?: boolean
  /** For how long from now on. Null: until the access that the agent has already ends; by default if it has none. */
  days: GrantDays | null
}

/** The access that an agent has to a workspace. */
export interface CurrentAccess {
  workspaceId: string
  scopes: AgentScope[]
  membersMayAsk: boolean
  expiresAt: Date
}

/** Node's request and response, from which the OAuth server reads and writes its own cookies. */
export interface Exchange {
  request: IncomingMessage
  response: ServerResponse
}

/** What people decide about the requests of agents. */
export interface Consents {
  /** Finds the pending request of a browser; undefined if there is none or it has expired. */
  findConsentRequest(request: IncomingMessage, response: ServerResponse): Promise<ConsentRequest | undefined>
  /** The access that a person has given to a client, the newest first. */
  listAccess(principal: Principal, clientId: string): Promise<CurrentAccess[]>
  /**
   * Gives the agent of the pending request the access that the person has chosen, whatever the agent asked for: creates a
   * grant, or changes the live one of the same person, client and workspace, whose tokens go on with the new scopes.
   * Returns the URL to redirect to: for a request that was decided before, that of the first decision. Throws
   * `consent_expired` if the request has expired or its code was used, and `not_a_member`.
   */
  allow(exchange: Exchange, principal: Principal, choice: Choice): Promise<string>
  /** Denies the pending request. Returns the URL to redirect to, and throws, as `allow` does. */
  deny(exchange: Exchange): Promise<string>
}

export interface ConsentsOptions {
  db: Database
  clock: Clock
  changes: Changes
  baseUrl: string
  webUrl: string
  loadProvider: () => Promise<Provider>
  answers: Answers
}

/** A pending request, and the OAuth server that it was sent to. */
interface Found {
  provider: Provider
  interaction: Awaited<ReturnType<Provider['interactionDetails']>>
}

/** The client of a pending request, by its registration or the document that came with the request. */
interface RequestClient {
  clientId: string
  clientName: string
  clientUri: string | null
  /** JSON. */
  document?: string
}

export function createConsents(options: ConsentsOptions): Consents {
  const { db, clock, changes, baseUrl, webUrl, loadProvider, answers } = options
  const resource = `${baseUrl}${paths.mcp}`

  async function findInteraction({ request, response }: Exchange): Promise<Found | undefined> {
    const provider = await loadProvider()
    try {
      return { provider, interaction: await provider.interactionDetails(request, response) }
    } catch (error) {
      // SessionNotFound: there is no such request, or it has expired.
      if (error instanceof Error && error.name === 'SessionNotFound') return undefined
      throw error
    }
  }

  async function requireInteraction(exchange: Exchange): Promise<Found> {
    const found = await findInteraction(exchange)
    if (!found) throw errors.consentExpired()
    return found
  }

  /** The client of a request: what it had published when it sent the request, which is what the person decides on. */
  async function findClient({ provider, interaction }: Found): Promise<RequestClient | undefined> {
    const document = await findRequestDocument(db, interaction.uid)
    const client = document
      ? { clientId: document.client_id, clientName: document.client_name, clientUri: document.client_uri }
      : await provider.Client.find(String(interaction.params.client_id))
    if (!client) return undefined
    const { clientId, clientName, clientUri = null } = client as Partial<RequestClient>
    return {
      clientId: String(clientId),
      clientName: nameOfClient(clientName),
      clientUri,
      ...(document && { document: JSON.stringify(document) }),
    }
  }

  /** Where the browser continues once a request is decided. Throws `consent_expired` once its code was used. */
  async function findNext({ interaction }: Found): Promise<string> {
    const answer = await answers.find(interaction.uid)
    if (answer === undefined) return `${webUrl}${paths.authorization}/${interaction.uid}`
    if (await answers.isUsed(answer)) throw errors.consentExpired()
    return answer
  }

  return {
    async findConsentRequest(request, response) {
      const found = await findInteraction({ request, response })
      if (!found) return undefined
      const { redirect_uri: redirectUri, scope } = found.interaction.params
      const client = await findClient(found)
      if (!client) return undefined
      const { clientId, clientName, clientUri } = client
      return {
        uid: found.interaction.uid,
        clientId,
        clientName,
        clientUri,
        metadataHost: documentHostOf(clientId),
        redirectTarget: describeRedirect(String(redirectUri)),
        scopes: toAgentScopes(String(scope).split(' ')),
        isDecided: found.interaction.result !== undefined,
      }
    },

    async listAccess({ user }, clientId) {
      const grants = await listLiveGrantsOf(db, { userId: user.id, clientId }, clock.now())
      return grants.map(({ workspaceId, scopes, membersMayAsk, expiresAt }) => ({
        workspaceId,
        scopes: toAgentScopes(scopes),
        membersMayAsk,
        expiresAt,
      }))
    },

    async allow(exchange, principal, { workspaceId, days, membersMayAsk = false, ...choice }) {
      const found = await requireInteraction(exchange)
      const { provider, interaction } = found
      if (interaction.result) return findNext(found)
      const { user } = principal
      const memberships = await listMembershipsOfUser(
        db,
        { userId: user.id, workspaceIds: null },
        membershipsMax,
      )
      const workspace = memberships.find(({ id }) => id === workspaceId)
      if (!workspace) throw errors.notAMember()
      const client = await findClient(found)
      if (!client) throw errors.consentExpired()
      const { clientId, clientName, clientUri, document } = client
      const scopes = toAgentScopes(choice.scopes)
      const scope = scopes.join(' ')
      const grant = new provider.Grant({ accountId: user.id, clientId })
      grant.jti = createId()
      grant.addResourceScope(resource, scope)
      // The server asks for consent again unless its own scopes are granted as well.
      grant.addOIDCScope(scope)
      // Before the decision, so that whoever reads the decision finds it. It has no effect without a row of agent_grants.
      await grant.save()
      const within = { id: workspaceId, action: 'integrations.grant' } as const
      let isNew = false
      try {
        // Under the lock of members, so that nobody leaves the workspace meanwhile, and of two requests of the same client
        // the second finds the grant of the first.
        isNew = await changes.makeIn(principal, within, lockMembersWithCredential, (change) =>
          giveAccess(change, principal, {
            uid: interaction.uid,
            newGrantId: grant.jti,
            clientId,
            clientName,
            clientUri,
            workspace,
            scopes,
            membersMayAsk,
            days,
            document,
          }),
        )
      } finally {
        if (!isNew) await grant.destroy()
      }
      return findNext(found)
    },

    async deny(exchange) {
      const found = await requireInteraction(exchange)
      const result = { error: 'access_denied', error_description: 'The person denied access.' }
      await storeDecision(db, found.interaction.uid, { result }, clock.now())
      return findNext(found)
    },
  }
}

function describeRedirect(redirectUri: string): string {
  const { protocol, host } = new URL(redirectUri)
  return protocol === 'https:' || protocol === 'http:' ? host : `${protocol}//${host}`
}
