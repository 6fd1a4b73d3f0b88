import type { FastifyRequest } from 'fastify'
import type { App } from '../http/app-types.ts'
import { errors } from '../kernel/errors.ts'
import type { Services } from '../services.ts'
import { browserOf, continueSignIn } from './continue-sign-in.ts'
import { parseLocalPath } from './local-path.ts'

interface WithProvider {
  Params: { provider: string }
  Querystring: { next?: string }
}

type Provider = Services['identityProviders'][number]
type Flow = Awaited<ReturnType<Provider['begin']>>['flow']

const flowCookie = 'identity'

/** Signing in with an identity provider: the redirect to it, and the callback. */
export function identityPages(
  app: App,
  { credentials, identityProviders }: Pick<Services, 'credentials' | 'identityProviders'>,
  webUrl: string,
): void {
  function requireProvider({ params }: FastifyRequest<WithProvider>): Provider {
    const provider = identityProviders.find(({ id }) => id === params.provider)
    if (!provider) throw errors.notFound()
    return provider
  }

  app.get<WithProvider>('/sign-in/with/:provider', async (request, reply) => {
    const provider = requireProvider(request)
    const { url, flow } = await orProviderFailed(request, () => provider.begin())
    const saved = { ...flow, provider: provider.id, next: parseLocalPath(request.query.next) }
    return reply
      .remember(flowCookie, Buffer.from(JSON.stringify(saved)).toString('base64url'))
      .redirect(url, 303)
  })

  app.get<WithProvider>('/sign-in/with/:provider/callback', async (request, reply) => {
    const provider = requireProvider(request)
    const saved = readFlow(request.visit.recall(flowCookie))
    // A flow is used once, even if the sign-in fails.
    void reply.remember(flowCookie, undefined)
    if (saved?.provider !== provider.id) throw errors.providerFailed()
    const identity = await orProviderFailed(request, () =>
      provider.finish(new URL(request.url, webUrl), saved),
    )
    const result = await credentials.signInByIdentity(identity, browserOf(request))
    return continueSignIn(reply, result, parseLocalPath(saved.next))
  })
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

function readFlow(cookie: string | undefined): (Flow & { provider: unknown; next: unknown }) | undefined {
  try {
    const flow = JSON.parse(Buffer.from(cookie ?? '', 'base64url').toString()) as Record<string, unknown>
    const { state, nonce, codeVerifier, provider, next } = flow
    if (typeof state !== 'string' || typeof nonce !== 'string' || typeof codeVerifier !== 'string')
      return undefined
    return { state, nonce, codeVerifier, provider, next }
  } catch {
    return undefined
  }
}
