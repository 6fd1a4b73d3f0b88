import { randomUUID } from 'node:crypto'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import Fastify, { type FastifyBaseLogger } from 'fastify'
import { agentOAuthRoutes } from './agents/oauth/agent-oauth.routes.ts'
import { agentOAuthSchemas } from './agents/oauth/agent-oauth.schemas.ts'
import { agentRoutes } from './agents/agent.routes.ts'
import { agentSchemas } from './agents/kit/kit.schemas.ts'
import { agentToolsSchemas } from './agents/tools/agent-tools.schemas.ts'
import { agentScope, paths } from './agents/oauth/protocol.ts'
import { apiKeysRoutes } from './areas/apiKeys/apiKeys.routes.ts'
import { apiKeysSchemas } from './areas/apiKeys/apiKeys.schemas.ts'
import { workspaceKeysSchemas } from './areas/apiKeys/workspace-keys.schemas.ts'
import { mePhotoRoute, meRoutes } from './areas/me/me.routes.ts'
import { meSchemas } from './areas/me/me.schemas.ts'
import { eventsRoutes } from './areas/events/events.routes.ts'
import { eventsSchemas } from './areas/events/events.schemas.ts'
import { grantsRoutes } from './agents/grants/grants.routes.ts'
import { grantsSchemas } from './agents/grants/grants.schemas.ts'
import { invitesRoutes } from './areas/invites/invites.routes.ts'
import { invitesSchemas } from './areas/invites/invites.schemas.ts'
import { membersRoutes } from './areas/members/members.routes.ts'
import { membersSchemas } from './areas/members/members.schemas.ts'
import { notificationsRoutes } from './areas/notifications/notifications.routes.ts'
import { notificationsSchemas } from './areas/notifications/notifications.schemas.ts'
import { peopleRoutes } from './areas/people/people.routes.ts'
import { peopleSchemas } from './areas/people/people.schemas.ts'
import { agentRequestsRoutes } from './areas/agentRequests/agentRequests.routes.ts'
import { agentRequestsSchemas } from './areas/agentRequests/agentRequests.schemas.ts'
import {
  attachmentLinksRoute,
  attachmentsRoutes,
  attachmentsUploadRoute,
  createFileReceiver,
} from './areas/attachments/attachments.routes.ts'
import { attachmentsSchemas } from './areas/attachments/attachments.schemas.ts'
import { commentsRoutes } from './areas/comments/comments.routes.ts'
import { commentsSchemas } from './areas/comments/comments.schemas.ts'
import { evidenceRoutes } from './areas/evidence/evidence.routes.ts'
import { evidenceSchemas } from './areas/evidence/evidence.schemas.ts'
import { seedsRoutes } from './areas/seeds/seeds.routes.ts'
import { seedsSchemas } from './areas/seeds/seeds.schemas.ts'
import { seedsImportRoute, seedTablesRoutes } from './areas/seeds/tables/seed-tables.routes.ts'
import { seedTablesSchemas } from './areas/seeds/tables/seed-tables.schemas.ts'
import { labelsRoutes } from './areas/labels/labels.routes.ts'
import { labelsSchemas } from './areas/labels/labels.schemas.ts'
import { savedFiltersRoutes } from './areas/savedFilters/savedFilters.routes.ts'
import { savedFiltersSchemas } from './areas/savedFilters/savedFilters.schemas.ts'
import { teamsRoutes } from './areas/teams/teams.routes.ts'
import { teamsSchemas } from './areas/teams/teams.schemas.ts'
import { agentPolicyRoutes } from './agents/policy/agent-policy.routes.ts'
import { agentPolicySchemas } from './agents/policy/agent-policy.schemas.ts'
import { serviceClientsRoutes } from './agents/service-clients/service-clients.routes.ts'
import { serviceClientsSchemas } from './agents/service-clients/service-clients.schemas.ts'
import { serviceAccountsRoutes } from './areas/serviceAccounts/serviceAccounts.routes.ts'
import { serviceAccountsSchemas } from './areas/serviceAccounts/serviceAccounts.schemas.ts'
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
import { creations } from './http/answers/creations.ts'
import { registerCompression } from './http/answers/compression.ts'
import { registerDraining } from './http/limits/draining.ts'
import {
  handleClientError,
  handleFrameworkError,
  registerErrorHandler,
} from './http/requests/error-handler.ts'
import { idempotency } from './http/requests/idempotency.ts'
import { createRequestLogger, RequestLog } from './http/answers/logging.ts'
import { registerAudit } from './http/audit.ts'
import { openAuditLog } from './platform/audit/audit-log.ts'
import { registerMergedSeed } from './http/requests/merged-seed.ts'
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
import {
  fileMsMax,
  registerSlowSenders,
  slowSendersDefaults,
  type SlowSendersOptions,
} from './http/requests/slow-senders.ts'
import { streamEvents, streamEventsDefaults, type StreamEventsOptions } from './http/answers/stream-events.ts'
import { registerTurns, turnsDefaults, type TurnsWait } from './http/limits/turns.ts'
import { streamedUploads } from './http/requests/streamed-uploads.ts'
import { uploads } from './http/requests/uploads.ts'
import { schemaController } from './http/requests/validation.ts'
import { picturesRoutes } from './pictures/pictures.routes.ts'
import { registerTargetResources } from './http/target-resource.ts'
import { repairLink } from './domain/links.ts'
import { noMeter, type Meter } from './kernel/meter.ts'
import type { Services } from './services/services.ts'
import { docsPages } from './website/docs/docs.pages.ts'
import { changeStreamsDefaults, type ChangeStreamsOptions } from './website/plugins/change-streams.ts'
import { registerPages, showError } from './website/plugins/pages.ts'
import { sessionCookie } from './website/plugins/web-session.ts'
import { showFailure } from './website/agents/agent-failure.ts'
import { unsubscribePages } from './website/inbox/unsubscribe.pages.ts'
import { websiteRoutes } from './website/website.ts'

const schemas = [
  ...sharedSchemas,
  ...systemSchemas,
  ...apiKeysSchemas,
  ...workspaceKeysSchemas,
  ...meSchemas,
  ...workspacesSchemas,
  ...searchSchemas,
  ...membersSchemas,
  ...invitesSchemas,
  ...teamsSchemas,
  ...labelsSchemas,
  ...savedFiltersSchemas,
  ...eventsSchemas,
  ...webhooksSchemas,
  ...serviceAccountsSchemas,
  ...serviceClientsSchemas,
  ...agentPolicySchemas,
  ...notificationsSchemas,
  ...peopleSchemas,
  ...seedsSchemas,
  ...seedTablesSchemas,
  ...evidenceSchemas,
  ...attachmentsSchemas,
  ...commentsSchemas,
  ...agentRequestsSchemas,
  ...grantsSchemas,
  ...agentSchemas,
  ...agentToolsSchemas,
  ...agentOAuthSchemas,
]

const tags = [
  { name: 'system', description: 'The health of the service.', guide: 'conventions' },
  { name: 'apiKeys', description: "The caller's API keys.", guide: 'conventions#authentication' },
  { name: 'me', description: 'The caller.', guide: 'conventions' },
  { name: 'workspaces', description: 'Workspaces, their slugs and icons.', guide: 'first-copy' },
  { name: 'members', description: 'The members of a workspace, with their roles.', guide: 'first-copy' },
  { name: 'invites', description: 'Invites to a workspace.', guide: 'conventions' },
  { name: 'teams', description: 'Named groups of members.', guide: 'first-copy' },
  { name: 'labels', description: 'Names by which seeds are sorted and found.', guide: 'first-copy' },
  { name: 'savedFilters', description: 'Filters of lists of seeds by a name.', guide: 'first-copy' },
  { name: 'events', description: 'The changes in a workspace.', guide: 'following-events' },
  {
    name: 'serviceAccounts',
    description: 'Members of a workspace for programs, with API keys and without sign-in.',
    guide: 'conventions#authentication',
  },
  { name: 'webhooks', description: 'URLs that the events of a workspace are sent to.', guide: 'webhooks' },
  {
    name: 'notifications',
    description: 'What the caller is told of: their inbox, of all their workspaces.',
    guide: 'conventions',
  },
  {
    name: 'people',
    description: 'The directory of a workspace: its members and invited people.',
    guide: 'first-copy',
  },
  { name: 'seeds', description: 'Early ideas, with the evidence for and against them.', guide: 'first-copy' },
  {
    name: 'comments',
    description: 'What people and agents write about seeds and their evidence.',
    guide: 'first-copy',
  },
  {
    name: 'attachments',
    description: 'Files of seeds, their evidence and comments.',
    guide: 'first-copy',
  },
  { name: 'agentRequests', description: 'What people ask of agents by comments.', guide: 'agents' },
  { name: 'evidence', description: 'Reading, correcting and withdrawing evidence.', guide: 'first-copy' },
  { name: 'integrations', description: 'The grants of agents in a workspace.', guide: 'agents' },
  { name: 'agent', description: 'The validation kit, for agents.', guide: 'apps' },
  {
    name: 'agentOAuth',
    description: 'OAuth discovery, registration and tokens, for agents.',
    guide: 'apps',
  },
]

/** For the names of some columns. */
const mappingBytesMax = 16 * 1024

export interface AppOptions {
  slowReaders?: SlowReadersOptions
  slowSenders?: SlowSendersOptions
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
    slowSenders = slowSendersDefaults,
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
    requestTimeout: fileMsMax,
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
  registerAudit(app, openAuditLog(config.auditLog, logger))
  registerSlowReaders(app, slowReaders)
  registerSlowSenders(app, slowSenders)
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

  await registerPages(app, {
    pictureUrl: config.baseUrl,
    draftTagsOf: (userId) => services.draftKeys.tagsOf(userId),
    isOutgoing: config.isOutgoing,
    ...config.entry,
  })
  await registerOpenApiRoute(app)
  await app.register((scope: App) => docsPages(scope, { ...config, groups: tags }))
  await app.register((scope: App) => unsubscribePages(scope, services))
  await app.register(async (scope: App) => {
    await scope.register(publicAccess)
    systemRoutes(scope, services.system)
    picturesRoutes(scope, services.pictures)
    attachmentLinksRoute(scope, services.attachments)
  })
  await app.register(async (scope: App) => {
    await scope.register(publicAccess)
    await agentOAuthRoutes(scope, services.agentOAuth, {
      ...config,
      areAssertionsOn: services.areAssertionsOn,
      showFailure,
    })
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
    agentRoutes(scope, services, config)
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
  const fileUploads = {
    limitPerHour: config.attachmentLimitPerHour,
    receiver: createFileReceiver(services.attachments),
  }
  await app.register(async (scope: App) => {
    registerTargetResources(scope, {
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
    registerMergedSeed(scope)
    await scope.register(pagination, { baseUrl: config.baseUrl })
    await scope.register(streamEvents, { ...eventStreams, personStreams: services.personStreams })
    await scope.register(versions)
    await scope.register(creations)
    await scope.register(attachments)
    apiKeysRoutes(scope, services)
    meRoutes(scope, services)
    notificationsRoutes(scope, services.notifications)
    workspacesRoutes(scope, services)
    searchRoutes(scope, services.search)
    membersRoutes(scope, services.members)
    invitesRoutes(scope, services)
    teamsRoutes(scope, services.teams)
    labelsRoutes(scope, services.labels)
    savedFiltersRoutes(scope, services.savedFilters)
    eventsRoutes(scope, services.events)
    webhooksRoutes(scope, services)
    serviceAccountsRoutes(scope, services.serviceAccounts)
    serviceClientsRoutes(scope, services.serviceClients)
    agentPolicyRoutes(scope, services.agentPolicy)
    peopleRoutes(scope, services.people)
    seedsRoutes(scope, services.seeds)
    seedTablesRoutes(scope, services)
    evidenceRoutes(scope, services)
    commentsRoutes(scope, services.comments)
    attachmentsRoutes(scope, services.attachments)
    agentRequestsRoutes(scope, services.agentRequests)
    grantsRoutes(scope, services.grants)
    await scope.register(async (uploadScope: App) => {
      await uploadScope.register(uploads, { uploadLimitPerHour: config.uploadLimitPerHour })
      mePhotoRoute(uploadScope, services.me)
      workspaceIconRoute(uploadScope, services.workspaces)
    })
    await scope.register(async (uploadScope: App) => {
      const { uploadLimitPerHour } = config
      await uploadScope.register(uploads, { uploadLimitPerHour, fieldBytesMax: mappingBytesMax })
      seedsImportRoute(uploadScope, services.seedImports)
    })
    await scope.register(async (uploadScope: App) => {
      await uploadScope.register(streamedUploads, fileUploads)
      attachmentsUploadRoute(uploadScope, services.attachments)
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
      fileUploads,
      changeStreams,
    })
  })
  return app
}
