import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../../http/app-types.ts'
import { ApiError, errors } from '../../kernel/errors.ts'
import type { Services } from '../../services/services.ts'
import { browserOf, continueSignIn } from './continue-sign-in.ts'
import { attempt } from '../components/sent-form.ts'
import { parseLocalPath } from '../components/local-path.ts'
import { notice } from '../components/notice.ts'

export interface WithProvider {
  Params: { provider: string }
  Querystring: { next?: string }
}

type Provider = Services['identityProviders'][number]
type Flow = Awaited<ReturnType<Provider['begin']>>['flow']
type Identity = Awaited<ReturnType<Provider['finish']>>

/** What the browser keeps until the provider sends it back. */
interface SavedFlow extends Flow {
  provider: unknown
  next: unknown
  /** The session that links the account. Without it, the account signs in. */
  linkOf: unknown
}

const flowCookie = 'identity'

/** The page of the providers that a person has linked. */
export const providersPath = '/settings/security/providers'

/** Signing in with an identity provider: the redirect to it, and the callback, which also links accounts. */
export function identityPages(
  app: App,
  services: Pick<Services, 'credentials' | 'identities' | 'identityProviders'>,
  webUrl: string,
): void {
  const { credentials, identities, identityProviders } = services

  app.get<WithProvider>('/sign-in/with/:provider', async (request, reply) => {
    const provider = requireProvider(identityProviders, request)
    const next = parseLocalPath(request.query.next)
    return reply.redirect(await beginIdentityFlow(request, reply, provider, { next }), 303)
  })

  app.get<WithProvider>('/sign-in/with/:provider/callback', async (request, reply) => {
    const provider = requireProvider(identityProviders, request)
    const saved = readFlow(request.visit.recall(flowCookie))
    // A flow is used once, even if the sign-in fails.
    void reply.remember(flowCookie, undefined)
    if (saved?.provider !== provider.id) throw refuseFlow(request)
    const identity = await orProviderFailed(request, () =>
      provider.finish(new URL(request.url, webUrl), saved),
    )
    if (saved.linkOf !== undefined) return link(request, reply, { provider, identity, saved })
    const result = await orRefused(request, identity, () =>
      credentials.signInByIdentity(identity, browserOf(request)),
    )
    return continueSignIn(reply, result, parseLocalPath(saved.next))
  })

  async function link(
    request: FastifyRequest,
    reply: FastifyReply,
    flow: { provider: Provider; identity: Identity; saved: SavedFlow },
  ): Promise<FastifyReply> {
    const { sessionId, isProven } = request.visit
    if (sessionId === undefined || sessionId !== flow.saved.linkOf || !isProven) throw refuseFlow(request)
    const { provider, identity } = flow
    const { error } = await attempt(() =>
      orRefused(request, identity, () => identities.link(request.principal, provider, identity)),
    )
    return error
      ? reply.refuse(providersPath, error)
      : reply.redirectWith(providersPath, {
          notice: notice`Your account at ${provider.name} was linked.`,
        })
  }
}

/** The provider in the URL. Throws `not_found`. */
export function requireProvider(
  providers: readonly Provider[],
  { params }: FastifyRequest<WithProvider>,
): Provider {
  const provider = providers.find(({ id }) => id === params.provider)
  if (!provider) throw errors.notFound()
  return provider
}

/** Begins a flow, which the browser keeps in a cookie. Returns the URL to redirect to. */
export async function beginIdentityFlow(
  request: FastifyRequest,
  reply: FastifyReply,
  provider: Provider,
  purpose: { next?: string | undefined; linkOf?: string | undefined },
): Promise<string> {
  const { url, flow } = await orProviderFailed(request, () => provider.begin())
  const saved = { ...flow, provider: provider.id, ...purpose }
  reply.remember(flowCookie, Buffer.from(JSON.stringify(saved)).toString('base64url'))
  return url
}

/** Logs a failure of the provider and throws `provider_failed`. */
async function orProviderFailed<T>(request: FastifyRequest, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    request.log.warn({ err: error }, 'sign-in with identity provider failed')
    throw errors.providerFailed({ cause: error })
  }
}

const refused = 'sign-in with identity provider refused'

function refuseFlow(request: FastifyRequest): ApiError {
  request.log.warn({ reason: 'this browser did not begin it, or it has ended' }, refused)
  return errors.providerFailed()
}

/** Runs what an identity is for. Logs a refusal with the claim that it is about: people are told less. */
async function orRefused<T>(request: FastifyRequest, identity: Identity, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    if (error instanceof ApiError)
      request.log.warn({ code: error.code, ...findClaim(error, identity) }, refused)
    throw error
  }
}

const ofAddress = new Set<string>(
  [errors.identityUnverified, errors.signUpDisabled, errors.inviteRequired].map(({ code }) => code),
)

function findClaim({ code }: ApiError, { emailFault }: Identity): { claim: string; reason?: string } {
  if (code === errors.identityUnverified.code && emailFault) return emailFault
  return { claim: ofAddress.has(code) ? 'email' : 'sub' }
}

function readFlow(cookie: string | undefined): SavedFlow | undefined {
  try {
    const flow = JSON.parse(Buffer.from(cookie ?? '', 'base64url').toString()) as Record<string, unknown>
    const { state, nonce, codeVerifier, provider, next, linkOf } = flow
    if (typeof state !== 'string' || typeof nonce !== 'string' || typeof codeVerifier !== 'string')
      return undefined
    return { state, nonce, codeVerifier, provider, next, linkOf }
  } catch {
    return undefined
  }
}
