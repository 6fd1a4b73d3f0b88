import type { FastifyBaseLogger, FastifyRequest, onResponseHookHandler, RouteOptions } from 'fastify'
import { toPrincipal, type AgentPrincipal } from '../domain/agent.ts'
import type { Principal } from '../domain/principal.ts'
import { isSlug } from '../domain/slugs.ts'
import type { AuditEntry, AuditLog } from '../kernel/audit.ts'
import { parseEmail } from '../kernel/email.ts'
import { isId } from '../kernel/ids.ts'
import type { App } from './app-types.ts'
import { countRefusals } from './audited-refusals.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** What the line of the audit has beside what the request says. */
    audited: {
      /** The code of the error that the request was refused with. */
      code?: string
      /** Who signed in. */
      userId?: string
      /** The OAuth client that asked for tokens, and the grant that they are of. */
      clientId?: string | undefined
      grantId?: string | undefined
    } | null
    /**
     * Records an operation that is one of several of the request, as the calls of tools in an MCP message are, if it concerns
     * access.
     */
    recordCall: NonNullable<AgentPrincipal['noteCall']>
  }
}

/**
 * The operations that concern access: credentials, accounts, owners, and what is taken out or deleted as a whole. Those that
 * only read are left out, except exports.
 */
export const auditedOperations: ReadonlySet<string> = new Set([
  ...['apiKeys.create', 'apiKeys.createRestricted', 'apiKeys.restrict', 'apiKeys.rotate', 'apiKeys.revoke'],
  ...['me.delete', 'me.export', 'me.acceptInvite', 'me.acceptOffer'],
  ...['workspaces.create', 'workspaces.update', 'workspaces.delete', 'workspaces.export'],
  ...['workspaces.transferOwnership', 'workspaces.updateAgentPolicy', 'members.updateRole', 'members.remove'],
  ...['invites.create', 'invites.resend', 'invites.updateRole', 'invites.revoke', 'invites.accept'],
  ...['agent.createInvite', 'agent.resendInvite', 'agent.updateInvite', 'agent.revokeInvite'],
  ...['serviceAccounts.create', 'serviceAccounts.update', 'serviceAccounts.delete'],
  ...['serviceAccounts.createKey', 'serviceAccounts.rotateKey', 'serviceAccounts.revokeKey'],
  ...['serviceAccounts.createClient', 'serviceAccounts.rotateClient', 'serviceAccounts.revokeClient'],
  'integrations.revoke',
  ...['webhooks.create', 'webhooks.update', 'webhooks.delete', 'webhooks.rotateSecret'],
  ...['agentOAuth.register', 'agentOAuth.token', 'agentOAuth.revoke'],
])

/** The forms of the website that concern access, by the beginning of their paths. */
const auditedForms =
  /^\/(sign-|verify|forgot|reset|invites\/|leaving|take-back|keep-account|onboarding|settings\/(security|confirm|email|leaving)|agent\/oauth|w\/:slug\/(settings|members|agents|invites))/

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
  const lines = countRefusals(audit)
  app.decorateRequest('audited', null)
  app.decorateRequest('recordCall', function recordCall(this: FastifyRequest, action, input, code) {
    if (!auditedOperations.has(action)) return
    write(this.log, () => lines.record(describe(this, { action, input, code })))
  })
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
    const record: onResponseHookHandler = (request, reply, done) => {
      write(request.log, () => lines.record(describeRequest(request, reply.statusCode)))
      done()
    }
    route.onResponse = [...[route.onResponse ?? []].flat(), record]
  })
}

// Tokens of links give access to who reads them.
const secretParams = new Set(['token', 'uid', '*'])

/** Whether a parameter can name something. Anything else is a text of who asks, who may be a stranger. */
const isNaming = ([name, value]: readonly [string, unknown]): boolean =>
  !secretParams.has(name) && typeof value === 'string' && (isId(value) || isSlug(value))

/** The address that a request is about. What is none was perhaps typed into the wrong field, such as a password. */
function findEmail(body: unknown): { email?: string } {
  const { email } = (body ?? {}) as { email?: unknown }
  const address = typeof email === 'string' ? parseEmail(email) : undefined
  return address === undefined ? {} : { email: address }
}

/** The ids in the input of an agent, whose operations have them there in place of the path. */
function idsOf(input: unknown): [string, unknown][] {
  return Object.entries(input ?? {}).filter(([name]) => name.endsWith('Id'))
}

function describeRequest(request: FastifyRequest, status: number): AuditEntry {
  const { audited, routeOptions, method, body } = request
  const { operationId: action = `${method} ${routeOptions.url}` } = (routeOptions.schema ?? {}) as {
    operationId?: string
  }
  const entry = describe(request, { action, input: body, code: audited?.code })
  return status < 400 ? entry : { ...entry, outcome: 'refused' }
}

function describe(
  request: FastifyRequest,
  { action, input, code }: { action: string; input: unknown; code: string | undefined },
): AuditEntry {
  const { audited, params, ip: address, id: requestId } = request
  // Each is only there where its credential is asked for.
  const agent = request.agent as AgentPrincipal | null | undefined
  const principal = agent ? toPrincipal(agent) : (request.principal as Principal | null | undefined)
  const named = [
    ...Object.entries(params as Record<string, string>),
    ...(agent ? [['slug', agent.workspace.slug] as const, ...idsOf(input)] : []),
  ]
  return {
    action,
    outcome: code === undefined ? 'done' : 'refused',
    code,
    actor: {
      userId: audited?.userId ?? principal?.user.id,
      sessionId: principal?.sessionId ?? undefined,
      apiKeyId: principal?.apiKeyId ?? undefined,
      grantId: audited?.grantId ?? principal?.grantId ?? undefined,
    },
    target: {
      ...(Object.fromEntries(named.filter(isNaming)) as Record<string, string>),
      ...(audited?.clientId !== undefined && { clientId: audited.clientId }),
      ...findEmail(input),
    },
    address,
    requestId,
  }
}
