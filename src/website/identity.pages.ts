import type { FastifyRequest } from 'fastify'
import type { App } from '../http/app-types.ts'
import { errors } from '../kernel/errors.ts'
import type { Services } from '../services.ts'
import { parseLocalPath } from './local-path.ts'
import { browserOf } from './sign-in.pages.ts'

interface WithProvider {
  Params: { provider: string }
  Querystring: { next?: string }
}

type Provider = Services['identityProviders'][number]
type Flow = Awaited<ReturnType<Provider['begin']>>['flow']

const flowCookie = 'identity'

/** Signing in with a provider, and the way back from there. */
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
    const { url, flow } = await orFail(request, () => provider.begin())
    const kept = { ...flow, provider: provider.id, next: parseLocalPath(request.query.next) }
    return reply
      .remember(flowCookie, Buffer.from(JSON.stringify(kept)).toString('base64url'))
      .redirect(url, 303)
  })

  app.get<WithProvider>('/sign-in/with/:provider/callback', async (request, reply) => {
    const provider = requireProvider(request)
    const kept = readFlow(request.visit.recall(flowCookie))
    // Once: whatever comes of it, the same answer of the provider is not looked at again.
    void reply.remember(flowCookie, undefined)
    if (kept?.provider !== provider.id) throw errors.providerFailed()
    const identity = await orFail(request, () => provider.finish(new URL(request.url, webUrl), kept))
    const session = await credentials.signInByIdentity(identity, browserOf(request))
    return reply.signIn(session).redirect(parseLocalPath(kept.next) ?? '/', 303)
  })
}

/** What goes wrong on the way to a provider and back is told to people in few words, and to the log in more. */
async function orFail<T>(request: FastifyRequest, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    request.log.warn({ err: error }, 'a sign-in with an identity provider failed')
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
