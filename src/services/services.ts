import { join } from 'node:path'
import type { Redis } from 'ioredis'
import type { Logger } from 'pino'
import { createChanges } from '../access/change.ts'
import { createSeedAccess, createWorkspaceAccess } from '../access/workspace-access.ts'
import { createAgentOAuth, type AgentOAuth } from '../agent-oauth/agent-oauth.ts'
import { createAgentOAuthJobs } from '../agent-oauth/agent-oauth.jobs.ts'
import { agentScope } from '../agent-oauth/protocol.ts'
import type { AgentPrincipal } from '../kernel/agent.ts'
import { deleteRetiredSigningKeys } from '../agent-oauth/signing-keys.repository.ts'
import {
  deleteExcessRecords,
  deleteStaleRecords,
  recordBounds,
  type RecordBounds,
} from '../agent-oauth/oauth-records.repository.ts'
import { createAgentAuthenticator } from '../areas/agent/agent.authenticator.ts'
import { loadAppSecret } from '../platform/app-secret.ts'
import { createAccountsJobs } from '../accounts/accounts.jobs.ts'
import { createAccountsService, type AccountsService } from '../accounts/accounts.service.ts'
import { deleteExpiredAccountTokens } from '../accounts/sign-in/credentials.repository.ts'
import { createCredentialsService, type CredentialsService } from '../accounts/sign-in/credentials.service.ts'
import { deleteExpiredFlashes } from '../website/state/flashes.repository.ts'
import { deleteExpiredEmailChanges } from '../accounts/email-changes/email-changes.repository.ts'
import {
  createEmailChangesService,
  type EmailChangesService,
} from '../accounts/email-changes/email-changes.service.ts'
import {
  createFlashesService,
  endedSessionKnownMs,
  type FlashesService,
} from '../website/state/flashes.service.ts'
import { createIdentitiesService, type IdentitiesService } from '../accounts/identities/identities.service.ts'
import { createInvitedSignUpService, type InvitedSignUpService } from '../accounts/invited-sign-up.service.ts'
import { randomLinkDelay, type LinkDelay } from '../accounts/sign-in/link-delay.ts'
import { createOffersService, type OffersService } from '../areas/members/offers.service.ts'
import { deleteExpiredChallenges } from '../accounts/passkeys/passkeys.repository.ts'
import { createPasskeysService, type PasskeysService } from '../accounts/passkeys/passkeys.service.ts'
import { createProofsService, type ProofsService } from '../accounts/sign-in/proofs.service.ts'
import { deleteExpiredPendingSignIns } from '../accounts/second-factor/second-factor.repository.ts'
import {
  createSecondFactorService,
  type SecondFactorService,
} from '../accounts/second-factor/second-factor.service.ts'
import { createSecondStepService, type SecondStepService } from '../accounts/sign-in/second-step.service.ts'
import { createSecretBox } from '../accounts/second-factor/secret-box.ts'
import { createWebAuthn } from '../accounts/passkeys/webauthn.ts'
import { deleteExpiredSentForms } from '../website/state/sent-forms.repository.ts'
import { createSentFormsService, type SentFormsService } from '../website/state/sent-forms.service.ts'
import {
  deleteEndedSessions,
  deleteExpiredSessions,
  deleteForgottenBrowsers,
} from '../accounts/sessions/sessions.repository.ts'
import { browserKnownMs } from '../kernel/accounts.ts'
import { createSessionsService, type SessionsService } from '../accounts/sessions/sessions.service.ts'
import type { KitMcpHandler } from '../areas/agent/tools/agent.mcp.ts'
import { createAgentCalls, type AgentCalls } from '../areas/agent/agent-calls.ts'
import { deleteOldCalls } from '../areas/agent/agent-calls.repository.ts'
import { scopesOfCalls, type AgentTool } from '../areas/agent/agent-tool.ts'
import { kitResources } from '../areas/agent/tools/kit-resources.mcp.ts'
import { mcpForm, readValidationKitTool } from '../areas/agent/read-validation-kit.mcp.ts'
import { createSeedLinks } from '../areas/agent/seed-links.ts'
import { searchTools } from '../areas/agent/tools/search.tools.ts'
import { seedsTools } from '../areas/agent/tools/seeds.tools.ts'
import { workspaceTools } from '../areas/agent/tools/workspace.tools.ts'
import { createKitService, type KitService } from '../areas/agent/agent.service.ts'
import {
  createApiKeyAuthenticator,
  type ApiKeyAuthenticator,
} from '../areas/apiKeys/apiKeys.authenticator.ts'
import { createApiKeysService, type ApiKeysService } from '../areas/apiKeys/apiKeys.service.ts'
import { createEventsService, type EventsService } from '../areas/events/events.service.ts'
import {
  createIntegrationsService,
  type IntegrationsService,
} from '../areas/integrations/integrations.service.ts'
import { createInvitesJobs } from '../areas/invites/invites.jobs.ts'
import { createInvitesService, type InvitesService } from '../areas/invites/invites.service.ts'
import { createMembersJobs } from '../areas/members/members.jobs.ts'
import { createMembersService, type MembersService } from '../areas/members/members.service.ts'
import { createPeopleService, type PeopleService } from '../areas/people/people.service.ts'
import { createSeedsService, type SeedsService } from '../areas/seeds/seeds.service.ts'
import { createTeamsService, type TeamsService } from '../areas/teams/teams.service.ts'
import { createMeService, type MeService } from '../areas/me/me.service.ts'
import { createSystemService, type SystemService } from '../areas/system/system.service.ts'
import { createWorkspacesService, type WorkspacesService } from '../areas/workspaces/workspaces.service.ts'
import type { Config } from '../config.ts'
import { fillCanonicalEmails } from '../db/canonical-emails.ts'
import { shareOf, type Database } from '../db/client.ts'
import { hasLostStatements } from '../db/connection-health.ts'
import { createIdempotencyStore, deleteExpiredIdempotentRequests } from '../db/idempotency.repository.ts'
import { isMigrated } from '../db/migrate.ts'
import type { McpHandler } from '../http/requests/mcp.ts'
import type { Clock } from '../kernel/clock.ts'
import type { IdempotencyStore } from '../kernel/idempotency.ts'
import { createPictureStore, type PictureStore } from '../pictures/picture-store.ts'
import type { IdentityProvider } from '../platform/identity/identity.port.ts'
import { createOidcProvider } from '../platform/identity/oidc-identity.ts'
import { createSharpImages } from '../platform/images/sharp-images.ts'
import { createGraphileQueue } from '../platform/jobs/graphile-queue.repository.ts'
import { startJobRunner } from '../platform/jobs/graphile-runner.ts'
import type { Mailer } from '../platform/mail/mail.port.ts'
import { createFileMailer, createSmtpMailer } from '../platform/mail/nodemailer-mail.ts'
import { createArgon2Passwords } from '../platform/passwords/argon2-passwords.ts'
import { connectRedis } from '../platform/redis.ts'
import { createLocalStorage } from '../platform/storage/local-storage.ts'
import { createS3Storage, parseS3Url } from '../platform/storage/s3-storage.ts'
import { createUntrustedFetch, type UntrustedFetchOptions } from '../platform/untrusted-fetch.ts'

/** All services that routes, pages and commands use. */
export interface Services {
  accounts: AccountsService
  /** The agent of an access token, or undefined if the token is invalid or its grant has ended. */
  authenticateAgent: (accessToken: string) => Promise<AgentPrincipal | undefined>
  /** The OAuth server for agents. */
  agentOAuth: AgentOAuth
  apiKeys: ApiKeysService
  authenticator: ApiKeyAuthenticator
  /** Signing up and in, passwords and links. */
  credentials: CredentialsService
  emailChanges: EmailChangesService
  idempotency: IdempotencyStore
  /** The accounts at external services that people have linked. */
  identities: IdentitiesService
  /** The external services that people can sign in with. */
  identityProviders: IdentityProvider[]
  events: EventsService
  /** What a redirect leaves for the next page of the website. */
  flashes: FlashesService
  integrations: IntegrationsService
  invites: InvitesService
  /** Signing up by the link of an invite. */
  invitedSignUp: InvitedSignUpService
  kit: KitService
  agentCalls: AgentCalls
  /** What agents can do. Their calls are counted. */
  agentTools: readonly AgentTool[]
  mcp: McpHandler
  me: MeService
  members: MembersService
  offers: OffersService
  passkeys: PasskeysService
  people: PeopleService
  pictures: PictureStore
  /** Proving again that it is the person who signed in. */
  proofs: ProofsService
  redis: Redis | undefined
  /** Two-step sign-in, in the settings of a person. */
  secondFactor: SecondFactorService
  /** The second step of a sign-in. */
  secondStep: SecondStepService
  /** The forms that were sent on the website. */
  sentForms: SentFormsService
  /** The sessions of the website. */
  sessions: SessionsService
  seeds: SeedsService
  system: SystemService
  teams: TeamsService
  workspaces: WorkspacesService
  /** Starts running jobs in this process. */
  startJobs(): Promise<void>
  /** Stops background work. Does not close the database. */
  close(): Promise<void>
}

export interface ServicesOptions {
  config: Config
  db: Database
  /** The database for jobs, so that jobs and requests do not compete for connections. Default: `db`. */
  jobsDb?: Database
  clock: Clock
  log: Logger
  /** Options for fetching untrusted URLs, such as those of metadata documents. */
  untrustedFetch?: UntrustedFetchOptions
  /** The maximum numbers of records that requests without a credential can create. */
  oauthRecordBounds?: RecordBounds
  /** How long mails with links wait. */
  linkDelay?: LinkDelay
}

const agentCallsKeptMs = 90 * 24 * 60 * 60 * 1000

export function createServices(options: ServicesOptions): Services {
  const { config, db, jobsDb = db, clock, log, untrustedFetch } = options
  const { oauthRecordBounds = recordBounds, linkDelay = randomLinkDelay } = options
  const redis = config.redisUrl === undefined ? undefined : connectRedis(config.redisUrl, log)
  const changes = createChanges({ db, clock })
  /** The dependencies of an area: a share of the connections, which its changes use too. */
  const takeShare = () => {
    const share = shareOf(db)
    return { db: share, clock, changes: createChanges({ db: share, clock }) }
  }
  const pictures = createPictureStore({
    db,
    clock,
    changes,
    images: createSharpImages(),
    storage:
      config.storageUrl === undefined
        ? createLocalStorage(join(config.dataDir, 'uploads'))
        : createS3Storage(parseS3Url(config.storageUrl)),
    baseUrl: config.baseUrl,
    onDeleteError: (error) => log.warn({ err: error }, 'an unused picture could not be deleted; will retry'),
  })
  const requireWorkspace = createWorkspaceAccess({ db, clock })
  const shareOfSeeds = takeShare()
  const requireWorkspaceOfSeed = createSeedAccess(shareOfSeeds)
  const authenticator = createApiKeyAuthenticator({
    db,
    seedsDb: shareOfSeeds.db,
    clock,
    onRecordError: (error) =>
      log.warn({ err: error }, 'the last uses of API keys could not be written; will retry'),
  })
  const agents = createAgentAuthenticator({
    db,
    clock,
    onRecordError: (error) =>
      log.warn({ err: error }, 'the last uses of grants could not be written; will retry'),
  })
  const jobs = createGraphileQueue()
  const loadSecret = () => loadAppSecret(config.appSecret, config.dataDir)
  const passwords = createArgon2Passwords()
  const credentialsShare = { db: shareOf(db), clock, jobs }
  const secondFactors = { ...credentialsShare, secretBox: createSecretBox(loadSecret, 'authenticator apps') }
  const passkeyOptions = {
    ...credentialsShare,
    secretBox: createSecretBox(loadSecret, 'challenges of passkeys'),
    webAuthn: createWebAuthn(config.webUrl),
  }
  const agentOAuth = createAgentOAuth({
    db,
    clock,
    changes,
    jobs,
    log,
    loadAppSecret: loadSecret,
    baseUrl: config.baseUrl,
    webUrl: config.webUrl,
    accessTokenLifetimeSeconds: config.accessTokenLifetimeSeconds,
    refreshGraceSeconds: config.refreshGraceSeconds,
    refreshLimitPerHour: config.refreshLimitPerHour,
    recordBounds: oauthRecordBounds,
    fetch: createUntrustedFetch(untrustedFetch),
  })
  const seedLinks = createSeedLinks(config.webUrl)
  const kit = createKitService({ db: shareOf(db), clock, links: seedLinks })
  const mailer = createMailer(config, log)
  const { webUrl, inviteLimitPerHour, mailLimitPerHour } = config
  const events = createEventsService({
    db: shareOf(db),
    clock,
    requireWorkspace,
    onWatchError: (error) =>
      log.warn({ err: error }, 'new activity could not be read for open pages; will retry'),
  })
  const people = createPeopleService({ db: shareOf(db), clock, requireWorkspace, pictures })
  const seeds = createSeedsService({ ...shareOfSeeds, requireWorkspace, requireWorkspaceOfSeed, pictures })
  const agentCalls = createAgentCalls({
    db,
    clock,
    onRecordError: (error) =>
      log.warn({ err: error }, 'the calls of agents could not be counted; will retry'),
  })
  const agentTools = [
    readValidationKitTool(kit),
    ...searchTools(kit, seedLinks, mcpForm),
    ...workspaceTools(people, events),
    ...seedsTools(seeds, seedLinks),
  ].map((tool) => agentCalls.counted(tool))
  let mcpHandler: Promise<KitMcpHandler> | undefined
  // Loaded at the first MCP request, since the SDK is slow to load.
  const loadMcpHandler = async () => {
    const [{ createKitMcpHandler }, { readAsset }] = await Promise.all([
      import('../areas/agent/tools/agent.mcp.ts'),
      import('../assets/assets.ts'),
    ])
    return createKitMcpHandler(
      { tools: agentTools, resources: kitResources(kit, agentCalls) },
      {
        onError: (error) => log.error({ err: error }, 'a tool or resource of agents failed'),
        onRefusal: (error) => log.debug({ err: error }, 'an MCP message was refused'),
        webUrl,
        // At the origin of the endpoint, where clients accept icons from.
        iconUrl: `${config.baseUrl}${readAsset('icon', 'svg').url}`,
      },
    )
  }
  let runner: { stop: () => Promise<void> } | undefined
  return {
    async authenticateAgent(accessToken) {
      const token = await agentOAuth.verify(accessToken)
      if (!token?.scopes.includes(agentScope)) return undefined
      const agent = await agents.authenticate(token.grantId)
      return agent?.grant.clientId === token.clientId ? agent : undefined
    },
    agentOAuth,
    agentCalls,
    agentTools,
    accounts: createAccountsService({ db: shareOf(db), clock, jobs }),
    apiKeys: createApiKeysService({ ...takeShare(), jobs, apiKeyPrefix: config.apiKeyPrefix }),
    authenticator,
    credentials: createCredentialsService({
      ...credentialsShare,
      passwords,
      linkDelay,
      webUrl,
    }),
    emailChanges: createEmailChangesService({ ...credentialsShare, linkDelay, passwords }),
    events,
    identities: createIdentitiesService(credentialsShare),
    idempotency: createIdempotencyStore(db, clock),
    identityProviders: config.oidcProviders.map((provider) => createOidcProvider(provider, webUrl)),
    integrations: createIntegrationsService({ ...takeShare(), requireWorkspace }),
    invites: createInvitesService({
      ...takeShare(),
      requireWorkspace,
      pictures,
      jobs,
      webUrl,
      inviteLimitPerHour,
      mailLimitPerHour,
    }),
    invitedSignUp: createInvitedSignUpService({
      ...passkeyOptions,
      changes: createChanges({ db: passkeyOptions.db, clock }),
      passwords,
    }),
    kit,
    mcp: {
      scopesOf: (message) => scopesOfCalls(agentTools, message),
      answer: async (request, agent, message) =>
        (await (mcpHandler ??= loadMcpHandler()))(request, agent, message),
    },
    me: createMeService({ ...takeShare(), pictures }),
    members: createMembersService({ ...takeShare(), requireWorkspace, pictures, jobs }),
    offers: createOffersService({ ...takeShare(), pictures }),
    passkeys: createPasskeysService(passkeyOptions),
    people,
    pictures,
    proofs: createProofsService({ ...secondFactors, passwords }),
    redis,
    secondFactor: createSecondFactorService(secondFactors),
    secondStep: createSecondStepService(secondFactors),
    flashes: createFlashesService({ db: shareOf(db), clock }),
    sentForms: createSentFormsService({ db: shareOf(db), clock }),
    sessions: createSessionsService({ db: shareOf(db), clock, pictures }),
    seeds,
    system: createSystemService(() => isDatabaseReady(db)),
    teams: createTeamsService({ ...takeShare(), requireWorkspace, pictures }),
    workspaces: createWorkspacesService({ ...takeShare(), requireWorkspace, pictures }),
    async startJobs() {
      const ago = (ms: number) => new Date(clock.now().getTime() - ms)
      runner = await startJobRunner({
        pool: jobsDb.$client,
        log,
        handlers: {
          ...createAccountsJobs({ db: jobsDb, clock, mailer, webUrl }),
          ...createInvitesJobs({ db: jobsDb, clock, mailer, webUrl }),
          ...createMembersJobs({ db: jobsDb, mailer, webUrl }),
          ...createAgentOAuthJobs({ db: jobsDb, mailer, webUrl }),
          collect_pictures: () => pictures.collectUnused(),
        },
        cleanUps: {
          pictures: () => pictures.collectUnused(),
          idempotent_requests: () => deleteExpiredIdempotentRequests(jobsDb, clock.now()),
          sessions: () => deleteExpiredSessions(jobsDb, clock.now()),
          ended_sessions: () => deleteEndedSessions(jobsDb, ago(endedSessionKnownMs)),
          flashes: () => deleteExpiredFlashes(jobsDb, clock.now()),
          sent_forms: () => deleteExpiredSentForms(jobsDb, clock.now()),
          account_tokens: () => deleteExpiredAccountTokens(jobsDb, clock.now()),
          pending_sign_ins: () => deleteExpiredPendingSignIns(jobsDb, clock.now()),
          challenges: () => deleteExpiredChallenges(jobsDb, clock.now()),
          email_changes: () => deleteExpiredEmailChanges(jobsDb, clock.now()),
          oauth_records: () => deleteStaleRecords(jobsDb, clock.now()),
          excess_oauth_records: () => deleteExcessRecords(jobsDb, oauthRecordBounds, clock.now()),
          known_browsers: () => deleteForgottenBrowsers(jobsDb, ago(browserKnownMs)),
          agent_calls: () => deleteOldCalls(jobsDb, ago(agentCallsKeptMs)),
          signing_keys: () => deleteRetiredSigningKeys(jobsDb, clock.now()),
          canonical_emails: () => fillCanonicalEmails(jobsDb.$client),
        },
      })
    },
    async close() {
      await runner?.stop()
      mailer.close()
      await authenticator.close()
      await agents.close()
      await agentCalls.close()
      redis?.disconnect()
    },
  }
}

/** Sends mail over SMTP, or writes it to files without SMTP_URL. Logs its links only with the embedded database. */
function createMailer({ smtpUrl, mailFrom, dataDir, databaseUrl }: Config, log: Logger): Mailer {
  if (smtpUrl !== undefined) return createSmtpMailer(smtpUrl, mailFrom)
  const isEmbedded = databaseUrl === undefined
  return createFileMailer(join(dataDir, 'mail'), mailFrom, ({ to, subject, text }, path) => {
    // In production neither addresses nor links may be logged.
    const shown = isEmbedded ? { to: to.address, subject, links: text.match(/https?:\/\/\S+/g) } : {}
    log.info({ path, ...shown }, 'mail was written')
  })
}

async function isDatabaseReady({ $client }: Database): Promise<boolean> {
  return !hasLostStatements($client) && isMigrated($client)
}
