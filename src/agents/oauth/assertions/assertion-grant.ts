import { decodeJwt } from 'jose'
import { errors, type Client, type Provider, type TokenEndpointGrantContext } from 'oidc-provider'
import type { Logger } from 'pino'
import type { Database } from '../../../db/client.ts'
import { agentScopes, toAskedScopes, type AgentScope } from '../../../domain/agent.ts'
import { isSlug } from '../../../domain/slugs.ts'
import type { Clock } from '../../../kernel/clock.ts'
import {
  AssertionRefused,
  isSameIssuer,
  ProviderUnreachable,
  type AgentAssertion,
  type IdentityProvider,
} from '../../../platform/identity/identity.port.ts'
import { nameOfClient } from '../documents/client-metadata.ts'
import {
  assertionGrantType,
  canonicalResource,
  documentHostOf,
  offlineScope,
  serviceGrantType,
} from '../protocol.ts'
import { AssertionUnusable, AssertionUnverifiable } from './assertion-errors.ts'
import { giveAssertedAccess } from './give-asserted-access.ts'

/** A provider whose assertions let agents in. */
export type AssertingProvider = Pick<IdentityProvider, 'name' | 'issuer' | 'readAssertion'>

export interface AssertionGrantOptions {
  db: Database
  clock: Clock
  log: Logger
  /** The issuer, which assertions are addressed to. */
  baseUrl: string
  /** The resource of access tokens. */
  resource: string
  /** The providers that the operator trusts for this. */
  assertingProviders: readonly AssertingProvider[]
  /** Runs what waits for a document or keys of a provider. */
  whileWaiting: <Result>(wait: () => Promise<Result>) => Promise<Result>
}

interface Parameters {
  assertion?: string
  resource?: string
  scope?: string
}

/**
 * Adds the grant by assertions of identity providers (draft-ietf-oauth-identity-assertion-authz-grant, ID-JAG, a profile of
 * RFC 7523 §2.1; the extension of MCP for enterprise-managed authorization) to the OAuth server. Does nothing without a trusted
 * provider. Clients do not register for it, since registrations with a grant type that is not known later would be invalid:
 * every client that authenticates may use it, as far as policies of workspaces allow.
 */
export function addAssertionGrant(provider: Provider, options: AssertionGrantOptions): void {
  const { clock, log, baseUrl, resource, assertingProviders, whileWaiting } = options
  if (assertingProviders.length === 0) return
  const { prototype } = provider.Client
  // eslint-disable-next-line @typescript-eslint/unbound-method -- called with the client, below
  const inherited = prototype.grantTypeAllowed
  prototype.grantTypeAllowed = function (this: Client, type) {
    return type === assertionGrantType || inherited.call(this, type)
  }

  provider.registerGrantType<Parameters>(
    assertionGrantType,
    async (ctx) => {
      const { client, params } = ctx.oidc
      assertConfidential(client)
      const { assertion: jwt, resource: indicator, scope } = params
      if (jwt === undefined || jwt === '') throw new errors.InvalidRequest('missing assertion')
      const asserting = findProvider(jwt)
      const assertion = await read(asserting, jwt)
      if (assertion.clientId !== client.clientId)
        throw new AssertionUnusable('The assertion was made for another client.')
      const workspaceSlug = findWorkspaceSlug(assertion.resources, indicator, resource)
      const { clientId, clientName, clientUri } = client
      const access = await giveAssertedAccess(options, {
        assertion,
        providerName: asserting.name,
        client: {
          clientId,
          clientName: nameOfClient(clientName),
          clientUri: clientUri ?? null,
          document: documentHostOf(clientId) === null ? undefined : JSON.stringify(client.metadata()),
        },
        workspaceSlug,
        scopes: narrow(toScopes(assertion.scope), toScopes(scope)),
      })
      await answer(ctx, access)
    },
    ['assertion', 'resource', 'scope'],
  )

  function findProvider(jwt: string): AssertingProvider {
    const issuer = issuerOf(jwt)
    const found = assertingProviders.find((each) => isSameIssuer(each.issuer, issuer))
    if (!found) throw new AssertionUnusable('The issuer of the assertion is not trusted here.')
    return found
  }

  async function read(asserting: AssertingProvider, jwt: string): Promise<AgentAssertion> {
    try {
      const expected = { audience: baseUrl, now: clock.now() }
      return await whileWaiting(() => asserting.readAssertion(jwt, expected))
    } catch (error) {
      if (error instanceof AssertionRefused) throw new AssertionUnusable(error.message)
      if (!(error instanceof ProviderUnreachable)) throw error
      log.warn({ err: error, issuer: asserting.issuer }, 'an assertion could not be verified')
      throw new AssertionUnverifiable()
    }
  }

  /** Answers with an access token, and no refresh token: the client asks again with another assertion. */
  async function answer(
    ctx: TokenEndpointGrantContext<Parameters>,
    { grantId, userId, scopes }: { grantId: string; userId: string; scopes: readonly AgentScope[] },
  ): Promise<void> {
    const scope = scopes.join(' ')
    const { client } = ctx.oidc
    const token = new provider.AccessToken({
      accountId: userId,
      client,
      grantId,
      gty: 'id_jag',
      scope,
      expiresWithSession: false,
    })
    token.resourceServer = new provider.ResourceServer(resource, {
      scope: agentScopes.join(' '),
      audience: resource,
      accessTokenFormat: 'jwt',
      jwt: { sign: { alg: 'ES256' } },
    })
    ctx.oidc.entity('AccessToken', token)
    const value = await token.save()
    ctx.body = { access_token: value, expires_in: token.expiration, token_type: 'Bearer', scope, resource }
  }
}

/** The draft is for confidential clients: a provider that vouches for a public one would vouch for anybody. */
function assertConfidential(client: Client): void {
  if (client.clientAuthMethod === 'none')
    throw new errors.UnauthorizedClient(
      'Only clients that authenticate by a secret or a key can use assertions. Register one, or ask the person for authorization.',
    )
  if (client.grantTypes?.includes(serviceGrantType))
    throw new errors.UnauthorizedClient('The client of a service account acts for no person.')
}

function issuerOf(jwt: string): string {
  try {
    return String(decodeJwt(jwt).iss)
  } catch {
    throw new AssertionUnusable('The assertion is not a JWT.')
  }
}

/** The workspace that the assertion and the request name; null if they leave it open. */
function findWorkspaceSlug(
  asserted: readonly string[],
  indicator: string | undefined,
  resource: string,
): string | null {
  const allowed = asserted.flatMap((each) => parseResource(each, resource) ?? [])
  const slugs = new Set(allowed.map(({ slug }) => slug))
  if (allowed.length === 0) throw new errors.InvalidTarget('The assertion is for another resource.')
  const asked = parseResource(indicator ?? resource, resource)
  if (!asked) throw new errors.InvalidTarget()
  if (asked.slug === null && slugs.size === 1) return allowed[0]?.slug ?? null
  if (slugs.has(asked.slug) || (asked.slug !== null && slugs.has(null))) return asked.slug
  throw new errors.InvalidTarget('The assertion is for another workspace.')
}

/** Reads our resource, with the workspace that it may name; undefined for another one. */
function parseResource(text: string, resource: string): { slug: string | null } | undefined {
  const [base = '', query] = text.split('?', 2)
  if (canonicalResource(base, resource) !== resource) return undefined
  if (query === undefined) return { slug: null }
  const [parameter, ...others] = new URLSearchParams(query)
  if (!parameter || others.length > 0) return undefined
  const [name, slug] = parameter
  return name === 'workspace' && isSlug(slug) ? { slug } : undefined
}

/** The scopes that a text names, with the one that every grant has; undefined for a text that names none. */
function toScopes(text: string | undefined): readonly AgentScope[] | undefined {
  const named = (text ?? '').split(' ').filter((scope) => scope !== '' && scope !== offlineScope)
  if (named.length === 0) return undefined
  const known = toAskedScopes(named)
  const [unknown] = named
  if (!known.some((scope) => named.includes(scope)))
    throw new errors.InvalidScope('Assertions give none of these scopes.', String(unknown))
  return known
}

/** The scopes that are in both, where undefined is all. */
function narrow(
  one: readonly AgentScope[] | undefined,
  other: readonly AgentScope[] | undefined,
): readonly AgentScope[] | undefined {
  return one && other ? one.filter((scope) => other.includes(scope)) : (one ?? other)
}
