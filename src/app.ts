import { randomUUID } from 'node:crypto'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import Fastify, { type FastifyBaseLogger } from 'fastify'
import { agentOAuthRoutes } from './agent-oauth/agent-oauth.routes.ts'
import { agentOAuthSchemas } from './agent-oauth/agent-oauth.schemas.ts'
import { agentRoutes } from './areas/agent/agent.routes.ts'
import { agentSchemas } from './areas/agent/agent.schemas.ts'
import { agentToolsSchemas } from './areas/agent/tools/agent-tools.schemas.ts'
import { agentScope, paths } from './agent-oauth/protocol.ts'
import { apiKeysRoutes } from './areas/apiKeys/apiKeys.routes.ts'
import { apiKeysSchemas } from './areas/apiKeys/apiKeys.schemas.ts'
import { mePhotoRoute, meRoutes } from './areas/me/me.routes.ts'
import { meSchemas } from './areas/me/me.schemas.ts'
import { eventsRoutes } from './areas/events/events.routes.ts'
import { eventsSchemas } from './areas/events/events.schemas.ts'
import { integrationsRoutes } from './areas/integrations/integrations.routes.ts'
import { integrationsSchemas } from './areas/integrations/integrations.schemas.ts'
import { invitesRoutes } from './areas/invites/invites.routes.ts'
import { invitesSchemas } from './areas/invites/invites.schemas.ts'
import { membersRoutes } from './areas/members/members.routes.ts'
import { membersSchemas } from './areas/members/members.schemas.ts'
import { notificationsRoutes } from './areas/notifications/notifications.routes.ts'
import { notificationsSchemas } from './areas/notifications/notifications.schemas.ts'
import { peopleRoutes } from './areas/people/people.routes.ts'
import { peopleSchemas } from './areas/people/people.schemas.ts'
import { commentsRoutes } from './areas/comments/comments.routes.ts'
import { commentsSchemas } from './areas/comments/comments.schemas.ts'
import { evidenceRoutes } from './areas/evidence/evidence.routes.ts'
import { evidenceSchemas } from './areas/evidence/evidence.schemas.ts'
import { seedsRoutes } from './areas/seeds/seeds.routes.ts'
import { seedsSchemas } from './areas/seeds/seeds.schemas.ts'
import { teamsRoutes } from './areas/teams/teams.routes.ts'
import { teamsSchemas } from './areas/teams/teams.schemas.ts'
import { webhooksRoutes } from './areas/webhooks/webhooks.routes.ts'
import { webhookRequests, webhooksSchemas } from './areas/webhooks/webhooks.schemas.ts'
import { systemRoutes } from './areas/system/system.routes.ts'
import { systemSchemas } from './areas/system/system.schemas.ts'
import { searchRoutes } from './areas/workspaces/search/search.routes.ts'
import { searchSchemas } from './areas/workspaces/search/search.schemas.ts'
import { workspaceIconRoute, workspacesRoutes } from './areas/workspaces/workspaces.routes.ts'
import { workspacesSchemas } from './areas/workspaces/workspaces.schemas.ts'
import type { Config } from './config/config.ts'
import { isDatabaseUnavailable } from './db/errors.ts'
import { createAgentLimits } from './http/limits/agent-limits.ts'
import { agentTokenAuth, type AgentTokenAuthOptions } from './http/credentials/agent-token-auth.ts'
import { apiKeyAuth } from './http/credentials/api-key-auth.ts'
import type { App } from './http/app-types.ts'
import { registerBodyParser } from './http/requests/body-parser.ts'
import { attachments } from './http/answers/attachments.ts'
import { registerCompression } from './http/answers/compression.ts'
import { registerDraining } from './http/limits/draining.ts'
import {
  handleClientError,
  handleFrameworkError,
  registerErrorHandler,
} from './http/requests/error-handler.ts'
import { idempotency } from './http/requests/idempotency.ts'
import { createRequestLogger, RequestLog } from './http/answers/logging.ts'
import { registerMovedSlug } from './http/requests/moved-slug.ts'
import { measureError, registerMeasuring } from './http/answers/measuring.ts'
import { mcpHintRoute, mcpRoutes } from './http/requests/mcp.ts'
import { allowedOrigins } from './http/credentials/origins.ts'
import { registerOpenApi, registerOpenApiRoute } from './http/description/openapi.ts'
import { overloadDefaults, registerOverloadProtection, type OverloadOptions } from './http/limits/overload.ts'
import { pagination } from './http/answers/pagination.ts'
import { registerProxyWarning } from './http/limits/proxy-warning.ts'
import { registerRateLimits } from './http/limits/rate-limits.ts'
import { registerRequestContext, urlBytesMax } from './http/requests/request-context.ts'
import { publicAccess, registerRouteGuard } from './http/credentials/route-guard.ts'
import { sharedSchemas } from './http/description/schemas.ts'
import { registerSecurityHeaders } from './http/answers/security-headers.ts'
import { registerSendJson } from './http/answers/send-json.ts'
import { versions } from './http/answers/versions.ts'
import {
  registerSlowReaders,
  slowReadersDefaults,
  type SlowReadersOptions,
} from './http/limits/slow-readers.ts'
import { streamEvents, streamEventsDefaults, type StreamEventsOptions } from './http/answers/stream-events.ts'
import { registerTurns, turnsDefaults, type TurnsWait } from './http/limits/turns.ts'
import { uploads } from './http/requests/uploads.ts'
import { schemaController } from './http/requests/validation.ts'
import { picturesRoutes } from './pictures/pictures.routes.ts'
import { registerSubjects } from './http/subjects.ts'
import { repairLink } from './domain/links.ts'
import { noMeter, type Meter } from './kernel/meter.ts'
import type { Services } from './services/services.ts'
import { docsPages } from './website/docs/docs.pages.ts'
import { changeStreamsDefaults, type ChangeStreamsOptions } from './website/plugins/change-streams.ts'
import { registerPages, showError } from './website/plugins/pages.ts'
import { sessionCookie } from './website/plugins/web-session.ts'
import { showFailure } from './website/consent/agent-failure.ts'
import { unsubscribePages } from './website/inbox/unsubscribe.pages.ts'
import { websiteRoutes } from './website/website.ts'

const schemas = [
  ...sharedSchemas,
  ...systemSchemas,
  ...apiKeysSchemas,
  ...meSchemas,
  ...workspacesSchemas,
  ...searchSchemas,
  ...membersSchemas,
  ...invitesSchemas,
  ...teamsSchemas,
  ...eventsSchemas,
  ...webhooksSchemas,
  ...notificationsSchemas,
  ...peopleSchemas,
  ...seedsSchemas,
  ...evidenceSchemas,
  ...commentsSchemas,
  ...integrationsSchemas,
  ...agentSchemas,
  ...agentToolsSchemas,
  ...agentOAuthSchemas,
]

const tags = [
  { name: 'system', description: 'The health of the service.' },
  { name: 'apiKeys', description: "The caller's API keys." },
  { name: 'me', description: 'The caller.' },
  { name: 'workspaces', description: 'Workspaces, their slugs and icons.' },
  { name: 'members', description: 'The members of a workspace, with their roles.' },
  { name: 'invites', description: 'Invites to a workspace.' },
  { name: 'teams', description: 'Named groups of members.' },
  { name: 'events', description: 'The changes in a workspace.' },
  { name: 'webhooks', description: 'URLs that the events of a workspace are sent to.' },
  { name: 'notifications', description: 'What the caller is told of: their inbox, of all their workspaces.' },
  { name: 'people', description: 'The directory of a workspace: its members and invited people.' },
  { name: 'seeds', description: 'Early ideas, with the evidence for and against them.' },
  { name: 'comments', description: 'What people and agents write about seeds and their evidence.' },
  { name: 'evidence', description: 'Correcting and withdrawing evidence.' },
  { name: 'integrations', description: 'The grants of agents in a workspace.' },
  { name: 'agent', description: 'The validation kit, for agents.' },
  { name: 'agentOAuth', description: 'OAuth discovery, registration and tokens, for agents.' },
]

export interface AppOptions {
  slowReaders?: SlowReadersOptions
  overload?: OverloadOptions
  changeStreams?: ChangeStreamsOptions
  eventStreams?: StreamEventsOptions
  turns?: TurnsWait
  /** Counts what happens. Default: nothing is counted. */
  meter?: Meter
}

/** Builds the HTTP server: all plugins and areas, in the order in which they handle a request. */
export async function buildApp(
  config: Config,
  services: Services,
  logger: FastifyBaseLogger,
  {
    slowReaders = slowReadersDefaults,
    overload = overloadDefaults,
    changeStreams = changeStreamsDefaults,
    eventStreams = streamEventsDefaults,
    turns = turnsDefaults,
    meter = noMeter,
  }: AppOptions = {},
): Promise<App> {
  const app: App = Fastify({
    loggerInstance: logger,
    logController: new RequestLog(),
    childLoggerFactory: createRequestLogger,
    requestIdHeader: false,
    genReqId: () => randomUUID(),
    trustProxy: config.trustProxy,
    bodyLimit: 64 * 1024,
    // The time for a whole request to arrive, so that slow senders do not hold connections.
    requestTimeout: 60_000,
    rewriteUrl: ({ url }) => repairLink(url ?? '/'),
    // So that a long id is handled as an unknown id, not as an unknown route.
    routerOptions: { maxParamLength: urlBytesMax },
    // While the server stops, requests on open connections are still served.
    return503OnClosing: false,
    frameworkErrors: handleFrameworkError,
    clientErrorHandler: handleClientError,
    schemaController,
  }).withTypeProvider<TypeBoxTypeProvider>()

  // Hooks run in this order. tests/unit/plugin-order.test.ts has the pairs that must stay in it, with the reasons.
  registerRouteGuard(app)
  registerMeasuring(app, meter)
  registerSlowReaders(app, slowReaders)
  registerRequestContext(app)
  registerDraining(app, () => services.system.isStopping())
  registerProxyWarning(app)
  registerErrorHandler(app, { isDatabaseUnavailable, showError, onError: measureError })
  registerCompression(app)
  registerOverloadProtection(app, config.requestsAtOnceMax, {
    ...overload,
    sessionCookie: sessionCookie(config.webUrl),
  })
  registerBodyParser(app)
  registerTurns(app, turns)
  registerSendJson(app)
  await registerSecurityHeaders(app, config)
  await registerRateLimits(app, services.redis)
  await registerOpenApi(app, {
    baseUrl: config.baseUrl,
    webUrl: config.webUrl,
    tags,
    webhooks: webhookRequests,
  })
  for (const schema of schemas) app.addSchema(schema)

  await registerPages(app, { pictureUrl: config.baseUrl, ...config.entry })
  await registerOpenApiRoute(app)
  await app.register(docsPages)
  await app.register((scope: App) => unsubscribePages(scope, services))
  await app.register(async (scope: App) => {
    await scope.register(publicAccess)
    systemRoutes(scope, services.system)
    picturesRoutes(scope, services.pictures)
  })
  await app.register(async (scope: App) => {
    await scope.register(publicAccess)
    await agentOAuthRoutes(scope, services.agentOAuth, { ...config, showFailure })
  })
  const resource = `${config.baseUrl}${paths.mcp}`
  const agentAuth: AgentTokenAuthOptions = {
    authenticate: services.authenticateAgent,
    resourceMetadataUrl: `${config.baseUrl}/.well-known/oauth-protected-resource${paths.mcp}`,
    scope: agentScope,
    limits: createAgentLimits(app, config),
  }
  await app.register(async (scope: App) => {
    await scope.register(agentTokenAuth, agentAuth)
    agentRoutes(scope, services)
  })
  await app.register(async (scope: App) => {
    await scope.register(allowedOrigins, { origins: [config.baseUrl, config.webUrl, ...config.agentOrigins] })
    await scope.register(agentTokenAuth, agentAuth)
    mcpRoutes(scope, services.mcp, paths.mcp, resource)
  })
  await app.register(async (scope: App) => {
    await scope.register(publicAccess)
    mcpHintRoute(scope, resource)
  })
  await app.register(async (scope: App) => {
    registerSubjects(scope, {
      '/v1/workspaces/:slug': ({ slug }) => ({ slug: String(slug) }),
      '/v1/seeds/:id': ({ id }) => ({ seedId: String(id) }),
      '/v1/evidence/:evidenceId': ({ evidenceId }) => ({ kind: 'evidence', id: String(evidenceId) }),
      '/v1/comments/:commentId': ({ commentId }) => ({ kind: 'comment', id: String(commentId) }),
    })
    await scope.register(apiKeyAuth, {
      authenticate: services.authenticator.authenticate,
      rateLimitPerMinute: config.rateLimitPerMinute,
      badKeyLimitPerMinute: config.badKeyLimitPerMinute,
    })
    await scope.register(idempotency, { store: services.idempotency })
    registerMovedSlug(scope)
    await scope.register(pagination, { baseUrl: config.baseUrl })
    await scope.register(streamEvents, { ...eventStreams, personStreams: services.personStreams })
    await scope.register(versions)
    await scope.register(attachments)
    apiKeysRoutes(scope, services.apiKeys)
    meRoutes(scope, services)
    notificationsRoutes(scope, services.notifications)
    workspacesRoutes(scope, services)
    searchRoutes(scope, services.search)
    membersRoutes(scope, services.members)
    invitesRoutes(scope, services)
    teamsRoutes(scope, services.teams)
    eventsRoutes(scope, services.events)
    webhooksRoutes(scope, services)
    peopleRoutes(scope, services.people)
    seedsRoutes(scope, services.seeds)
    evidenceRoutes(scope, services)
    commentsRoutes(scope, services.comments)
    integrationsRoutes(scope, services.integrations)
    await scope.register(async (uploadScope: App) => {
      await uploadScope.register(uploads, { uploadLimitPerHour: config.uploadLimitPerHour })
      mePhotoRoute(uploadScope, services.me)
      workspaceIconRoute(uploadScope, services.workspaces)
    })
  })
  await app.register(async (scope: App) => {
    await websiteRoutes(scope, services, {
      baseUrl: config.baseUrl,
      webUrl: config.webUrl,
      hasDesignPage: config.nodeEnv !== 'production',
      signInLimitPerMinute: config.signInLimitPerMinute,
      mailLimitPerHour: config.mailLimitPerHour,
      uploadLimitPerHour: config.uploadLimitPerHour,
      changeStreams,
    })
  })
  return app
}
