import fastifyCors, { type FastifyCorsOptions } from '@fastify/cors'
import fastifyHelmet from '@fastify/helmet'
import type { App } from './app-types.ts'
import { responseHeaders } from './response-headers.ts'

const agentPaths = /^\/(agent|\.well-known)\//

export interface SecurityHeadersOptions {
  baseUrl: string
  /** The origins that browsers may call the API from. */
  corsOrigins: '*' | readonly string[]
}

/** Says with every answer what browsers may do with it, and which pages may read it. */
export async function registerSecurityHeaders(app: App, config: SecurityHeadersOptions): Promise<void> {
  await app.register(fastifyHelmet, {
    // Answers are data: nothing in them is run or framed.
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { defaultSrc: [`'none'`], frameAncestors: [`'none'`] },
    },
    crossOriginResourcePolicy: { policy: 'cross-origin' },
    xFrameOptions: { action: 'deny' },
    // For browsers that are no more, or for documents, which these answers are not.
    originAgentCluster: false,
    xDnsPrefetchControl: false,
    xDownloadOptions: false,
    xPermittedCrossDomainPolicies: false,
    xXssProtection: false,
    strictTransportSecurity: config.baseUrl.startsWith('https:'),
  })
  const options: FastifyCorsOptions = {
    // Without cookies there is nothing that another origin could borrow: a page needs a key of its own.
    origin: '*',
    methods: ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE'],
    exposedHeaders: [...Object.keys(responseHeaders), 'Mcp-Protocol-Version', 'Mcp-Session-Id'],
    maxAge: 86_400,
    strictPreflight: false,
  }
  const { corsOrigins } = config
  if (corsOrigins === '*') {
    await app.register(fastifyCors, options)
    return
  }
  const restricted = { ...options, origin: [...corsOrigins] }
  await app.register(fastifyCors, {
    // How agents find their way in is for every page to read; the MCP endpoint looks at origins itself.
    delegator: (request, done) => done(null, agentPaths.test(request.url) ? options : restricted),
  })
}
