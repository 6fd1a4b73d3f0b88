import type {
  FastifyBaseLogger,
  FastifyReply,
  FastifyRequest,
  onResponseHookHandler,
  RouteOptions,
} from 'fastify'
import { isSlug } from '../domain/slugs.ts'
import type { AuditEntry, AuditLog } from '../kernel/audit.ts'
import { parseEmail } from '../kernel/email.ts'
import { isId } from '../kernel/ids.ts'
import type { App } from './app-types.ts'
import { countRefusals } from './audited-refusals.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** What the line of the audit has beside what the request says. Of audited requests. */
    audited: {
      /** The code of the error that the request was refused with. */
      code?: string
      /** Who signed in. */
      userId?: string
    } | null
  }
}

/**
 * The operations that concern access: credentials, accounts, owners, and what is taken out or deleted as a whole. Those that
 * only read are left out, except exports.
 */
export const auditedOperations: ReadonlySet<string> = new Set([
  ...['apiKeys.create', 'apiKeys.createRestricted', 'apiKeys.restrict', 'apiKeys.rotate', 'apiKeys.revoke'],
  ...['me.delete', 'me.export', 'me.acceptInvite', 'me.acceptOffer'],
  ...['workspaces.create', 'workspaces.delete', 'workspaces.export', 'workspaces.transferOwnership'],
  'workspaces.updateAgentPolicy',
  ...['members.updateRole', 'members.remove', 'invites.create', 'invites.updateRole', 'invites.accept'],
  ...['serviceAccounts.create', 'serviceAccounts.update', 'serviceAccounts.delete'],
  ...['serviceAccounts.createKey', 'serviceAccounts.rotateKey', 'serviceAccounts.revokeKey'],
  ...['serviceAccounts.createClient', 'serviceAccounts.rotateClient', 'serviceAccounts.revokeClient'],
  'integrations.revoke',
  ...['webhooks.create', 'webhooks.update', 'webhooks.delete', 'webhooks.rotateSecret'],
  ...['agentOAuth.register', 'agentOAuth.revoke'],
])

/** The forms of the website that concern access, by the beginning of their paths. */
const auditedForms =
  /^\/(sign-|verify|forgot|reset|invites\/|leaving|take-back|keep-account|settings\/(security|confirm|email|leaving)|agent\/oauth|w\/:slug\/(settings|people|agents|invites))/

/** Pages that sign in, or give out everything of somebody. */
const auditedPages: ReadonlySet<string> = new Set(['/sign-in/with/:provider/callback'])

/** Whether a route has a line in the audit for each request. */
export function isAudited({ method, url, schema }: Pick<RouteOptions, 'method' | 'url' | 'schema'>): boolean {
  const { operationId } = (schema ?? {}) as { operationId?: string }
  if (operationId !== undefined) return auditedOperations.has(operationId)
  const methods = [method].flat()
  if (methods.includes('POST')) return auditedForms.test(url)
  return methods.includes('GET') && (auditedPages.has(url) || url.endsWith('/export'))
}

/** Records each request to a route that concerns access, after its response. Other routes have no hook for it. */
export function registerAudit(app: App, audit: AuditLog): void {
  app.decorateRequest('audited', null)
  const lines = countRefusals(audit)
  // Those of the last minute are written also when nothing is refused any more, and when the process stops.
  const timer = setInterval(() => write(app.log, lines.flush), 60_000).unref()
  app.addHook('onClose', async () => {
    clearInterval(timer)
    write(app.log, lines.flush)
  })

  function write(log: FastifyBaseLogger, run: () => void): void {
    try {
      run()
    } catch (error) {
      // As on a full disk. The response is sent already, and Fastify ignores errors here.
      app.meter.auditFailed()
      log.error({ err: error }, 'a line of the audit could not be written')
    }
  }

  app.addHook('onRoute', (route) => {
    if (!isAudited(route)) return
    const begin = (request: FastifyRequest, _reply: FastifyReply, done: () => void) => {
      request.audited = {}
      done()
    }
    const record: onResponseHookHandler = (request, reply, done) => {
      write(request.log, () => lines.record(describe(request, reply)))
      done()
    }
    route.onRequest = [begin, ...[route.onRequest ?? []].flat()] as NonNullable<typeof route.onRequest>
    route.onResponse = [...[route.onResponse ?? []].flat(), record]
  })
}

// Tokens of links give access to who reads them.
const secretParams = new Set(['token', 'uid', '*'])

/** Whether a parameter can name something. Anything else is a text of who asks, who may be a stranger. */
const isName = (value: string): boolean => isId(value) || isSlug(value)

/** The address that a request is about. What is none was perhaps typed into the wrong field, such as a password. */
function findEmail(body: unknown): { email?: string } {
  const { email } = (body ?? {}) as { email?: unknown }
  const address = typeof email === 'string' ? parseEmail(email) : undefined
  return address === undefined ? {} : { email: address }
}

function describe(request: FastifyRequest, reply: FastifyReply): AuditEntry {
  const { audited, routeOptions, ip: address, id: requestId } = request
  const { operationId } = (routeOptions.schema ?? {}) as { operationId?: string }
  const principal = request.principal as typeof request.principal | null
  const { code, userId = principal?.user.id } = audited ?? {}
  const params = Object.entries((request.params ?? {}) as Record<string, string>)
  return {
    action: operationId ?? `${request.method} ${routeOptions.url}`,
    outcome: code === undefined && reply.statusCode < 400 ? 'done' : 'refused',
    code,
    actor: {
      userId,
      sessionId: principal?.sessionId ?? undefined,
      apiKeyId: principal?.apiKeyId ?? undefined,
      grantId: principal?.grantId ?? undefined,
    },
    target: {
      ...Object.fromEntries(params.filter(([name, value]) => !secretParams.has(name) && isName(value))),
      ...findEmail(request.body),
    },
    address,
    requestId,
  }
}
