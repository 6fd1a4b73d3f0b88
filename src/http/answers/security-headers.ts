import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import fastifyCors, { type FastifyCorsOptions } from '@fastify/cors'
import helmet, { type HelmetOptions } from 'helmet'
import type { App } from '../app-types.ts'
import { responseHeaders } from './response-headers.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * Whether a page of another site may open this one in a popup and stay connected to it. Its responses have no
     * `Cross-Origin-Opener-Policy`: with any value but `unsafe-none`, browsers tell the opener that the popup was closed
     * (HTML Standard, cross-origin opener policies).
     */
    keepsOpener?: boolean
  }
}

const agentPaths = /^\/(agent|\.well-known)\//

export interface SecurityHeadersOptions {
  baseUrl: string
  /** The origins that browsers may call the API from. */
  corsOrigins: '*' | readonly string[]
}

/** Adds security and CORS headers to every response. */
export async function registerSecurityHeaders(app: App, config: SecurityHeadersOptions): Promise<void> {
  const headers = readHeaders({
    // Responses are data: browsers must not execute or frame them.
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { defaultSrc: [`'none'`], frameAncestors: [`'none'`] },
    },
    crossOriginResourcePolicy: { policy: 'cross-origin' },
    xFrameOptions: { action: 'deny' },
    // These are for obsolete browsers, or for HTML documents.
    originAgentCluster: false,
    xDnsPrefetchControl: false,
    xDownloadOptions: false,
    xPermittedCrossDomainPolicies: false,
    xXssProtection: false,
    // Other hosts of the domain are not ours to decide for.
    strictTransportSecurity: config.baseUrl.startsWith('https:') && { includeSubDomains: false },
  })
  app.addHook('onRequest', ({ routeOptions }, reply, done) => {
    void reply.headers(headers)
    if (routeOptions.config.keepsOpener) void reply.removeHeader('cross-origin-opener-policy')
    done()
  })
  const options: FastifyCorsOptions = {
    // Safe for any origin, since no cookie authenticates a request: a page needs an API key.
    origin: '*',
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
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
    // Discovery and OAuth are open to every origin; the MCP endpoint checks origins itself.
    delegator: (request, done) => done(null, agentPaths.test(request.url) ? options : restricted),
  })
}

/** Lets pages of other sites open those of a scope in a popup and stay connected to them. Before its routes. */
export function keepOpeners(app: App): void {
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, keepsOpener: true }
  })
}

/** The headers that Helmet sets. They are the same for every response, so Helmet, which builds them anew, runs once. */
function readHeaders(options: HelmetOptions): Record<string, string> {
  const response = new ServerResponse(new IncomingMessage(new Socket()))
  helmet(options)(response.req, response, (error) => {
    if (error !== undefined) throw new Error('the security headers are invalid', { cause: error })
  })
  return response.getHeaders() as Record<string, string>
}
