import type { Logger } from 'pino'
import { createChanges } from '../access/change.ts'
import { createMemberActivity } from '../access/member-activity.ts'
import { createPartAccess, createSeedAccess, createWorkspaceAccess } from '../access/workspace-access.ts'
import { createAgentOAuth } from '../agents/oauth/agent-oauth.ts'
import { agentScope } from '../agents/oauth/protocol.ts'
import { recordBounds, type RecordBounds } from '../agents/oauth/records/record-bounds.repository.ts'
import { scopesOfRole } from '../agents/tools/agent-tool.ts'
import { createAgentPolicyService } from '../agents/policy/agent-policy.service.ts'
import { createAgentAuthenticator } from '../agents/grants/grants.authenticator.ts'
import { createAccountsService } from '../accounts/accounts.service.ts'
import { createCredentialsService } from '../accounts/sign-in/credentials.service.ts'
import { createEmailChangesService } from '../accounts/email-changes/email-changes.service.ts'
import { createDraftKeys } from '../forms/draft-keys.ts'
import { createFlashesService } from '../forms/flashes.service.ts'
import { createIdentitiesService } from '../accounts/identities/identities.service.ts'
import { createInvitedSignUpService } from '../accounts/invited-sign-up.service.ts'
import { randomLinkDelay, type LinkDelay } from '../accounts/sign-in/link-delay.ts'
import { createAccountDeletionService } from '../accounts/deletion/deletion.service.ts'
import { createOffersService } from '../areas/members/offers.service.ts'
import { createPasskeysService } from '../accounts/passkeys/passkeys.service.ts'
import { createProofsService } from '../accounts/sign-in/proofs.service.ts'
import { createSecondFactorService } from '../accounts/second-factor/second-factor.service.ts'
import { createSecondStepService } from '../accounts/sign-in/second-step.service.ts'
import { createWebAuthn } from '../accounts/passkeys/webauthn.ts'
import { createSentFormsService } from '../forms/sent-forms.service.ts'
import { createSessionsService } from '../accounts/sessions/sessions.service.ts'
import { createAgentCalls } from '../agents/calls/agent-calls.ts'
import { createSeedLinks } from '../agents/kit/seed-links.ts'
import { createKitService } from '../agents/kit/kit.service.ts'
import { createApiKeyAuthenticator } from '../areas/apiKeys/apiKeys.authenticator.ts'
import { createApiKeysService } from '../areas/apiKeys/apiKeys.service.ts'
import { createWorkspaceKeysService } from '../areas/apiKeys/workspace-keys.service.ts'
import { createAgentRequestsService } from '../areas/agentRequests/agentRequests.service.ts'
import { createAttachmentLinks } from '../areas/attachments/attachment-links.ts'
import { createAttachmentsService } from '../areas/attachments/attachments.service.ts'
import { createCommentsService } from '../areas/comments/comments.service.ts'
import { createEventsService } from '../areas/events/events.service.ts'
import { createServiceClientsService } from '../agents/service-clients/service-clients.service.ts'
import { createGrantsService } from '../agents/grants/grants.service.ts'
import { createInvitesService } from '../areas/invites/invites.service.ts'
import { createReceivedInvitesService } from '../areas/invites/received-invites.service.ts'
import { createMembersService } from '../areas/members/members.service.ts'
import { createNotificationsService } from '../areas/notifications/notifications.service.ts'
import { createUnsubscribeLinks } from '../areas/notifications/unsubscribe-links.ts'
import { createPeopleService } from '../areas/people/people.service.ts'
import { createEvidenceEditsService } from '../areas/evidence/evidence-edits.service.ts'
import { createSeenEvidenceService } from '../areas/evidence/seen-evidence.service.ts'
import { createEvidenceService } from '../areas/evidence/evidence.service.ts'
import { toSeedUrlPrefix } from '../domain/page-urls.ts'
import { createSeedImportsService } from '../areas/seeds/tables/imports.service.ts'
import { createSeedExportsService } from '../areas/seeds/tables/seed-exports.service.ts'
import { createSeedsService } from '../areas/seeds/seeds.service.ts'
import { createLabelsService } from '../areas/labels/labels.service.ts'
import { createSavedFiltersService } from '../areas/savedFilters/savedFilters.service.ts'
import { createTeamsService } from '../areas/teams/teams.service.ts'
import { createServiceAccountsService } from '../areas/serviceAccounts/serviceAccounts.service.ts'
import { countDeliveries } from '../areas/webhooks/delivery-counts.repository.ts'
import { createDeliveriesService } from '../areas/webhooks/deliveries.service.ts'
import { createWebhooksService } from '../areas/webhooks/webhooks.service.ts'
import { createMeService } from '../areas/me/me.service.ts'
import { createCallerActivityService } from '../areas/workspaces/caller-activity.service.ts'
import { createExportService } from '../areas/workspaces/export/export.service.ts'
import { createOwnershipService } from '../areas/workspaces/ownership/ownership.service.ts'
import { createSearchService } from '../areas/workspaces/search/search.service.ts'
import { createSystemService } from '../areas/system/system.service.ts'
import { createWorkspacesService } from '../areas/workspaces/workspaces.service.ts'
import type { Config } from '../config/config.ts'
import { shareOf, type Database } from '../db/client.ts'
import { hasLostStatements } from '../db/connection-health.ts'
import { createIdempotencyStore } from '../access/idempotency.repository.ts'
import { isMigrated } from '../db/migrate.ts'
import { withTokenScopes, type AgentPrincipal } from '../domain/agent.ts'
import type { Role } from '../domain/roles.ts'
import { FetchFailure } from '../kernel/fetch-failure.ts'
import { noMeter, type Meter } from '../kernel/meter.ts'
import { createPersonStreams } from '../concurrency/person-streams.ts'
import type { Clock } from '../kernel/clock.ts'
import { createMails } from '../mail/mails.ts'
import { createFileLedger } from '../pictures/file-ledger.ts'
import { createPictureStore } from '../pictures/picture-store.ts'
import { isSameIssuer } from '../platform/identity/identity.port.ts'
import { createOidcProvider } from '../platform/identity/oidc-identity.ts'
import { createSharpImages } from '../platform/images/sharp-images.ts'
import { createGraphileQueue } from '../platform/jobs/graphile-queue.repository.ts'
import {
  countJobs,
  listJobs,
  retryFailedJobs,
  retryWaitingJobs,
} from '../platform/jobs/job-operations.repository.ts'
import { createArgon2Passwords } from '../platform/passwords/argon2-passwords.ts'
import type { PasswordHasher } from '../platform/passwords/passwords.port.ts'
import { connectRedis } from '../platform/redis.ts'
import {
  createUntrustedFetch,
  createUntrustedPost,
  type UntrustedFetchOptions,
} from '../platform/untrusted-fetch.ts'
import { createMeasuredStorage } from '../platform/storage/measured-storage.ts'
import { findServerStart } from '../db/inspect-database.ts'
import { createMailer, createStorage, openAppSecret } from './adapters.ts'
import { createAgentAccess, type AgentAccessOptions } from './agents.ts'
import { sortSealedKinds } from './check-secrets.ts'
import { createDeliveries, type DeliveriesOptions } from './deliveries.ts'
import { startJobs } from './jobs.ts'
import { createMailOperations } from './mail-operations.ts'
import { quarantine } from './quarantine.ts'
import { reseal } from './reseal.ts'

/** All services that routes, pages and commands use. */
export type Services = ReturnType<typeof createServices>

export interface ServicesOptions {
  config: Config
  db: Database
  /** The database for jobs, so that jobs and requests do not compete for connections. Default: `db`. */
  jobsDb?: Database
  clock: Clock
  log: Logger
  /** Counts what happens. Default: nothing is counted. */
  meter?: Meter
  /** Options for fetching untrusted URLs, such as those of metadata documents. */
  untrustedFetch?: UntrustedFetchOptions
  /** The maximum numbers of records that requests without a credential can create. */
  oauthRecordBounds?: RecordBounds
  /** How long mails with links wait. */
  linkDelay?: LinkDelay
  /** Hashes passwords. Default: argon2id, as OWASP recommends. */
  passwords?: PasswordHasher
  /** How deliveries to webhooks are sent. */
  deliveries?: Partial<DeliveriesOptions>
  /** How agents are told of changes of their tools. */
  mcpStreams?: AgentAccessOptions['mcpStreams']
  /** How long a request waits for a counter in Redis, in milliseconds. */
  redisCommandMsMax?: number
  /** How long a change waits for its turn, in milliseconds. Default: as `createChanges` has it. */
  changeWaitMsMax?: number
  /** Whether clean-ups and the like run by themselves. Default: on. */
  hourlyJobs?: 'on' | 'off'
  /** How often the events that somebody watches are read. Default: once a second. */
  watchEveryMs?: number
}

/** Makes all services of a process. They work until `close`. */
export function createServices(options: ServicesOptions) {
  const { config, db, jobsDb = db, clock, log, untrustedFetch, meter = noMeter } = options
  const { oauthRecordBounds = recordBounds, linkDelay = randomLinkDelay } = options
  const { passwords = createArgon2Passwords() } = options
  const { redisUrl, secretNow } = config
  const redis =
    redisUrl === undefined
      ? undefined
      : connectRedis(() => secretNow('REDIS_URL') ?? redisUrl, log, options.redisCommandMsMax)
  const appSecret = openAppSecret(config)
  const jobs = createGraphileQueue()
  const seedUrlPrefix = toSeedUrlPrefix(config.webUrl)
  const webhookOptions = {
    clock,
    jobs,
    secretBox: appSecret.boxOf('secrets of webhooks'),
    send: createUntrustedPost({
      allowedHosts: config.webhookAllowedHosts,
      isDevelopment: config.isDevelopment,
    }),
    userAgent: `Workspace-Webhooks (+${config.webUrl})`,
    seedUrlPrefix,
    ...options.deliveries,
  }
  const deliverer = createDeliveries({ ...webhookOptions, db: jobsDb, log, meter })
  const onDeliveries = () => deliverer.wake()
  const activity = createMemberActivity({
    db,
    onRecordError: (error) =>
      log.warn({ err: error }, 'the activity of members could not be recorded; will retry'),
  })
  const changeOptions = {
    clock,
    onDeliveries,
    onActivity: activity.record,
    turnWaitMsMax: options.changeWaitMsMax,
  }
  const changes = createChanges({ db, ...changeOptions })
  /** The dependencies of an area: a share of the connections, which its changes use too. */
  const takeShare = () => {
    const share = shareOf(db)
    return { db: share, clock, changes: createChanges({ db: share, ...changeOptions }) }
  }
  const images = createSharpImages()
  const files = createFileLedger({
    db,
    clock,
    storage: createMeasuredStorage(createStorage(config), meter),
    onDeleteError: (error) => log.warn({ err: error }, 'an unused picture could not be deleted; will retry'),
  })
  const pictures = createPictureStore({ changes, images, files, baseUrl: config.baseUrl })
  const requireWorkspace = createWorkspaceAccess({ db, clock })
  const shareOfSeeds = takeShare()
  const shareOfInvites = takeShare()
  const requireWorkspaceOfSeed = createSeedAccess(shareOfSeeds)
  const requireSeedOf = createPartAccess(shareOfSeeds)
  const authenticator = createApiKeyAuthenticator({
    db,
    seedsDb: shareOfSeeds.db,
    clock,
    onRecordError: (error) =>
      log.warn({ err: error }, 'the last uses of API keys could not be written; will retry'),
  })
  const identityProviders = config.oidcProviders.map((provider) =>
    createOidcProvider(provider, config.webUrl),
  )
  const assertingProviders = identityProviders.filter(({ isTrustedForAgents }) => isTrustedForAgents)
  const agents = createAgentAuthenticator({
    db,
    clock,
    isTrustedIssuer: (issuer) => assertingProviders.some((provider) => isSameIssuer(provider.issuer, issuer)),
    onRecordError: (error) =>
      log.warn({ err: error }, 'the last uses of grants could not be written; will retry'),
  })
  const credentialsShare = { db: shareOf(db), clock, jobs, entry: config.entry }
  const secondFactors = { ...credentialsShare, secretBox: appSecret.boxOf('authenticator apps') }
  const passkeyOptions = {
    ...credentialsShare,
    secretBox: appSecret.boxOf('challenges of passkeys'),
    webAuthn: createWebAuthn(config.webUrl),
  }
  const agentOAuth = createAgentOAuth({
    db,
    clock,
    changes,
    jobs,
    log,
    meter,
    appSecret,
    baseUrl: config.baseUrl,
    webUrl: config.webUrl,
    accessTokenLifetimeSeconds: config.accessTokenLifetimeSeconds,
    refreshGraceSeconds: config.refreshGraceSeconds,
    refreshLimitPerHour: config.refreshLimitPerHour,
    recordBounds: oauthRecordBounds,
    areDocumentsOn: config.areDocumentsOn,
    assertingProviders,
    isSecretForeign: async () => (await sortSealedKinds(db, appSecret)).unknown.length > 0,
    fetch: config.isOutgoing
      ? createUntrustedFetch({ proxy: config.outgoingProxy, ...untrustedFetch })
      : refuseFetch,
  })
  const seedLinks = createSeedLinks(config.webUrl)
  const kit = createKitService({ db: shareOf(db), clock, links: seedLinks })
  const unsubscribeLinks = createUnsubscribeLinks(appSecret, config.webUrl)
  const mailer = createMailer(config, log)
  const { webUrl, inviteLimitPerHour, mailLimitPerHour, entry } = config
  const events = createEventsService({
    db: shareOf(db),
    clock,
    requireWorkspace,
    onWatchError: (error) =>
      log.warn({ err: error }, 'new activity could not be read for open pages; will retry'),
    seedUrlPrefix,
    pictures,
    pollEveryMs: options.watchEveryMs,
  })
  const people = createPeopleService({ db: shareOf(db), clock, requireWorkspace, pictures })
  const seeds = createSeedsService({
    ...shareOfSeeds,
    requireWorkspace,
    requireWorkspaceOfSeed,
    requireSeedOf,
    pictures,
    seedUrlPrefix,
  })
  const comments = createCommentsService({
    ...shareOfSeeds,
    requireWorkspace,
    requireWorkspaceOfSeed,
    requireSeedOf,
    pictures,
    seedUrlPrefix,
    jobs,
  })
  const attachments = createAttachmentsService({
    ...takeShare(),
    requireWorkspace,
    files,
    images,
    links: createAttachmentLinks({ appSecret, clock, baseUrl: config.baseUrl }),
    quotaBytes: config.storageQuotaMegabytes * 1024 * 1024,
  })
  const agentRequests = createAgentRequestsService({
    ...shareOfSeeds,
    requireWorkspace,
    requireWorkspaceOfSeed,
  })
  const evidence = createEvidenceService({ ...shareOfSeeds, requireWorkspaceOfSeed, requireSeedOf })
  const search = createSearchService({ db: shareOf(db), clock, requireWorkspace })
  const evidenceEdits = createEvidenceEditsService({ ...shareOfSeeds, requireSeedOf })
  const seenEvidence = createSeenEvidenceService({ ...shareOfSeeds, requireSeedOf })
  const agentCalls = createAgentCalls({
    db,
    clock,
    onRecordError: (error) =>
      log.warn({ err: error }, 'the calls of agents could not be counted; will retry'),
  })
  const labels = createLabelsService({ ...takeShare(), requireWorkspace })
  const teams = createTeamsService({ ...takeShare(), requireWorkspace, pictures })
  const invites = createInvitesService({
    ...shareOfInvites,
    requireWorkspace,
    jobs,
    webUrl,
    inviteLimitPerHour,
    mailLimitPerHour,
  })
  const notifications = createNotificationsService({ ...takeShare(), pictures, links: unsubscribeLinks })
  const personStreams = createPersonStreams()
  const workspaces = createWorkspacesService({ ...takeShare(), requireWorkspace, pictures, entry })
  const { agentTools, mcp } = createAgentAccess({
    services: {
      ...{ kit, search, people, events, seeds, evidence, evidenceEdits, comments, notifications, teams },
      invites,
      agentRequests,
      attachments,
      workspaces,
    },
    db,
    appSecret,
    agentCalls,
    agents,
    seedLinks,
    clock,
    log,
    personStreams,
    baseUrl: config.baseUrl,
    webUrl,
    mcpStreams: options.mcpStreams,
  })
  const { isOutgoing } = config
  const webhookShare = { ...webhookOptions, ...takeShare(), requireWorkspace, onDeliveries, isOutgoing }
  const accounts = createAccountsService({ db: shareOf(db), clock, jobs })
  let runner: { stop: () => Promise<void> } | undefined
  return {
    /** The open streams of people, of the API and of agents together. */
    personStreams,
    /** The agent of an access token, or undefined if the token is invalid or its grant has ended. */
    authenticateAgent: async (accessToken: string): Promise<AgentPrincipal | undefined> => {
      const token = await agentOAuth.verify(accessToken)
      if (!token?.scopes.includes(agentScope)) return undefined
      const agent = await agents.authenticate(token.grantId)
      if (agent?.grant.clientId !== token.clientId) return undefined
      // Each assertion narrows what its token can be used for.
      return agent.grant.assertedIssuer == null ? agent : withTokenScopes(agent, token.scopes)
    },
    /** The OAuth server for agents. */
    agentOAuth,
    agentCalls,
    /** What people ask of agents. */
    agentRequests,
    /** What agents can do. Their calls are counted. */
    agentTools,
    /** The scopes that agents of a person with a role can use. */
    scopesOfRole: (role: Role) => scopesOfRole(agentTools, role),
    accounts,
    apiKeys: createApiKeysService({ ...takeShare(), jobs, apiKeyPrefix: config.apiKeyPrefix }),
    /** The files of seeds, their evidence and comments. */
    attachments,
    authenticator,
    /** The API keys that act in a workspace. */
    workspaceKeys: createWorkspaceKeysService({ db: shareOf(db), clock, requireWorkspace }),
    /** The comments on seeds and their evidence. */
    comments,
    /** Signing up and in, passwords and links. */
    credentials: createCredentialsService({
      ...credentialsShare,
      passwords,
      linkDelay,
      webUrl,
    }),
    /** The keys of the texts that browsers keep for people. */
    draftKeys: createDraftKeys(appSecret),
    emailChanges: createEmailChangesService({ ...credentialsShare, linkDelay, passwords }),
    /** Who may come in. */
    entry,
    events,
    /** Correcting and withdrawing evidence. */
    evidenceEdits,
    seenEvidence,
    /** The evidence of seeds. */
    evidence,
    /** The accounts at external services that people have linked. */
    identities: createIdentitiesService(credentialsShare),
    /** What is sent to webhooks. */
    deliveries: createDeliveriesService(webhookShare),
    idempotency: createIdempotencyStore(db, clock),
    /** The external services that people can sign in with. */
    identityProviders,
    /** The name of one of them by its issuer, or the issuer of one that is not configured any more. */
    nameOfIssuer: (issuer: string) =>
      identityProviders.find((provider) => isSameIssuer(provider.issuer, issuer))?.name ?? issuer,
    /** Whether the operator trusts one of them to let agents in by assertions. */
    areAssertionsOn: assertingProviders.length > 0,
    /** Which agents workspaces let in so. */
    agentPolicy: createAgentPolicyService({ ...takeShare(), requireWorkspace }),
    grants: createGrantsService({ ...takeShare(), requireWorkspace }),
    invites,
    /** Signing up by the link of an invite. */
    invitedSignUp: createInvitedSignUpService({
      ...passkeyOptions,
      changes: createChanges({ db: passkeyOptions.db, ...changeOptions }),
      passwords,
    }),
    /** What waits to be sent to webhooks; undefined where nothing is sent. */
    countDeliveries: isOutgoing ? () => countDeliveries(jobsDb) : undefined,
    /** When the server of the database was started. */
    findDatabaseStart: () => findServerStart(jobsDb.$client),
    /** The jobs of the queue, for operators. */
    jobOperations: {
      count: () => countJobs(jobsDb),
      list: (filter: Parameters<typeof listJobs>[1]) => listJobs(jobsDb, filter),
      retry: (ids?: readonly string[]) => retryFailedJobs(jobsDb, ids),
      retryWaiting: () => retryWaitingJobs(jobsDb),
    },
    /** The mails of jobs, for operators. */
    mailOperations: createMailOperations({ db: jobsDb, mailer, webUrl }),
    kit,
    mcp,
    me: createMeService({ ...takeShare(), pictures, jobs }),
    members: createMembersService({ ...takeShare(), requireWorkspace, pictures, jobs }),
    /** What people are told of. */
    notifications,
    /** The links in mails that turn them off. */
    unsubscribeLinks,
    offers: createOffersService({ ...takeShare(), pictures }),
    /** What people have done in a workspace, and have left. */
    callerActivity: createCallerActivityService({ ...takeShare(), requireWorkspace }),
    /** Everything in a workspace, for its owners. */
    exports: createExportService({ ...takeShare(), requireWorkspace }),
    /** Exporting and deleting one's own account. */
    accountDeletion: createAccountDeletionService({
      ...takeShare(),
      jobs,
      pictureUrlOf: (key) => pictures.urlOf(key),
    }),
    /** Transferring, deleting and restoring workspaces. */
    ownership: createOwnershipService({ ...takeShare(), requireWorkspace, jobs }),
    passkeys: createPasskeysService(passkeyOptions),
    people,
    pictures,
    /** Proving again that it is the person who signed in. */
    proofs: createProofsService({ ...secondFactors, passwords }),
    /** The invites that people have received. */
    receivedInvites: createReceivedInvitesService({ ...shareOfInvites, pictures }),
    redis,
    /** Two-step sign-in, in the settings of a person. */
    secondFactor: createSecondFactorService(secondFactors),
    /** The second step of a sign-in. */
    secondStep: createSecondStepService(secondFactors),
    /** What a redirect leaves for the next page of the website. */
    flashes: createFlashesService({ db: shareOf(db), clock }),
    /** The forms that were sent on the website. */
    sentForms: createSentFormsService({ db: shareOf(db), clock }),
    /** The sessions of the website. */
    sessions: createSessionsService({ db: shareOf(db), clock, pictures, appSecret }),
    /** Encrypts again under APP_SECRET what is stored under APP_SECRET_PREVIOUS; undefined without such a secret. */
    reseal: async () => (config.appSecretPrevious === undefined ? undefined : reseal(db, appSecret)),
    /** Whether anything is sent outside: mails, deliveries to webhooks, and requests for what agents publish. */
    isOutgoing,
    /** Makes a copy of an installation harmless. Only with OUTGOING=off, and when the operator wants it. */
    quarantine: () => quarantine(db, clock),
    /** The search of workspaces. */
    search,
    seeds,
    /** Seeds from tables. */
    seedImports: createSeedImportsService({ ...takeShare(), requireWorkspace, jobs }),
    /** Tables of seeds and of their evidence. */
    seedExports: createSeedExportsService({
      clock,
      requireWorkspace,
      requireWorkspaceOfSeed,
      listSeeds: (...request) => seeds.list(...request),
      listEvidence: (...request) => evidence.list(...request),
    }),
    /** Members of workspaces for programs. */
    serviceAccounts: createServiceAccountsService({
      ...takeShare(),
      requireWorkspace,
      apiKeyPrefix: config.apiKeyPrefix,
    }),
    /** Their OAuth clients. */
    serviceClients: createServiceClientsService({ ...takeShare(), requireWorkspace }),
    system: createSystemService({ clock, appSecret, isDatabaseReady: () => isDatabaseReady(db) }),
    teams,
    labels,
    savedFilters: createSavedFiltersService({ ...takeShare(), requireWorkspace }),
    webhooks: createWebhooksService({ ...webhookShare, isDevelopment: config.isDevelopment }),
    workspaces,
    /** Starts running jobs and sending deliveries to webhooks in this process. */
    async startJobs() {
      runner = await startJobs({
        db: jobsDb,
        clock,
        changes: createChanges({ db: jobsDb, ...changeOptions }),
        log,
        meter,
        mails: createMails({ db: jobsDb, clock, log, meter, mailer }),
        webUrl,
        pictures,
        jobs,
        oauthRecordBounds,
        eventsKeptDays: config.eventsKeptDays,
        hourlyJobs: options.hourlyJobs,
        links: unsubscribeLinks,
        signUp: entry.signUp,
        deletePerson: (userId) => accounts.delete(userId, { withWorkspaces: true }),
      })
      if (isOutgoing) deliverer.start()
    },
    /** Stops background work. Does not close the database. */
    async close() {
      await Promise.all([deliverer.stop(), runner?.stop()])
      mailer.close()
      await authenticator.close()
      await activity.close()
      await agents.close()
      await agentCalls.close()
      await agentOAuth.close()
      redis?.disconnect()
    },
  }
}

/** Of documents of agents with OUTGOING=off. Those that are kept are used. */
function refuseFetch(): Promise<never> {
  return Promise.reject(new FetchFailure('OUTGOING is off'))
}

async function isDatabaseReady({ $client }: Database): Promise<boolean> {
  return !hasLostStatements($client) && isMigrated($client)
}
