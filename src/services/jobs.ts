import type { Logger } from 'pino'
import { createAgentOAuthJobs } from '../agents/oauth/agent-oauth.jobs.ts'
import { deleteUnusedDocuments } from '../agents/oauth/documents/documents.repository.ts'
import { deleteRetiredSigningKeys } from '../agents/oauth/keys/signing-keys.repository.ts'
import { deleteOldGrantAddresses } from '../agents/oauth/records/grant-addresses.repository.ts'
import {
  deleteExcessRecords,
  deleteStaleRecords,
  type RecordBounds,
} from '../agents/oauth/records/record-bounds.repository.ts'
import { createAccountsJobs } from '../accounts/accounts.jobs.ts'
import { deleteAbandonedSignUps } from '../accounts/sign-in/abandoned-sign-ups.repository.ts'
import { deleteExpiredAccountTokens } from '../accounts/sign-in/credentials.repository.ts'
import { deleteExpiredFlashes } from '../forms/flashes.repository.ts'
import { deleteExpiredEmailChanges } from '../accounts/email-changes/email-changes.repository.ts'
import { endedSessionKnownMs } from '../forms/flashes.service.ts'
import { deleteExpiredChallenges } from '../accounts/passkeys/passkeys.repository.ts'
import { deleteExpiredPendingSignIns } from '../accounts/second-factor/second-factor.repository.ts'
import { deleteExpiredSentForms } from '../forms/sent-forms.repository.ts'
import {
  deleteEndedSessions,
  deleteExpiredSessions,
  deleteForgottenBrowsers,
} from '../accounts/sessions/sessions.repository.ts'
import { browserKnownMs, type EntryRules } from '../domain/accounts.ts'
import { deleteOldCalls, deleteOldLoggedCalls } from '../agents/calls/agent-calls.repository.ts'
import { expireRequests, tellCancelled } from '../areas/agentRequests/agentRequests.jobs.ts'
import { deleteUnusedAttachments } from '../areas/attachments/attachments.repository.ts'
import { createApiKeysJobs, enqueueExpiryNotices } from '../areas/apiKeys/apiKeys.jobs.ts'
import { deleteEndedApiKeys } from '../areas/apiKeys/apiKeys.repository.ts'
import { deleteOldEvents } from '../areas/events/event-retention.repository.ts'
import { deleteEndedGrants } from '../agents/grants/grants.repository.ts'
import { createInvitesJobs } from '../areas/invites/invites.jobs.ts'
import { createAccountDeletionJobs, eraseLeavers } from '../accounts/deletion/deletion.jobs.ts'
import { createOwnershipJobs } from '../areas/workspaces/ownership/ownership.jobs.ts'
import { eraseDeletedWorkspaces } from '../areas/workspaces/ownership/ownership.repository.ts'
import { createMemberUpdatesJobs } from '../areas/members/member-updates.ts'
import { createMembersJobs } from '../areas/members/members.jobs.ts'
import { createImportsJobs } from '../areas/seeds/tables/imports.jobs.ts'
import { deleteOldImports } from '../areas/seeds/tables/imports.repository.ts'
import { eraseDeletedSeeds } from '../areas/seeds/seed-deletion.repository.ts'
import { deleteOldMoves } from '../areas/seeds/seed-merging.repository.ts'
import {
  createNotificationsJobs,
  enqueueAcceptedInvites,
  enqueueDigests,
  notifyOfEndingGrants,
} from '../areas/notifications/notifications.jobs.ts'
import { deleteOldNotifications } from '../areas/notifications/notifications.repository.ts'
import { createRemindersJobs, remindOfDecisions } from '../areas/notifications/reminders.jobs.ts'
import type { UnsubscribeLinks } from '../areas/notifications/unsubscribe-links.ts'
import { deleteOldDeliveries } from '../areas/webhooks/deliveries.repository.ts'
import { createWebhooksJobs } from '../areas/webhooks/webhooks.jobs.ts'
import type { Changes } from '../access/change.ts'
import { type Database } from '../db/client.ts'
import { deleteExpiredIdempotentRequests } from '../access/idempotency.repository.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Meter } from '../kernel/meter.ts'
import { unusedAttachmentsKeptMs } from '../domain/attachments.ts'
import { importDraftsKeptMs, importsKeptMs } from '../domain/seed-imports.ts'
import { endedLinkKeptMs } from '../domain/links.ts'
import { deletedSeedsKeptMs, mergesUndoneMs } from '../domain/seeds.ts'
import { notificationKeptMs } from '../domain/notifications.ts'
import { deletedWorkspaceKeptMs, formerSlugKeptMs } from '../domain/workspaces.ts'
import { type PictureStore } from '../pictures/picture-store.ts'
import type { JobQueue } from '../platform/jobs/jobs.port.ts'
import { startJobRunner, type JobRunnerOptions } from '../platform/jobs/graphile-runner.ts'
import { mailRecordKeptMs, type Mails } from '../mail/mails.ts'
import { deleteOldMails } from '../mail/mails.repository.ts'

export interface JobsOptions {
  db: Database
  clock: Clock
  /** For the changes that jobs make for people. */
  changes: Changes
  log: Logger
  meter: Meter
  mails: Mails
  /** The links that turn off mails. */
  links: UnsubscribeLinks
  webUrl: string
  signUp: EntryRules['signUp']
  pictures: PictureStore
  jobs: JobQueue
  oauthRecordBounds: RecordBounds
  /** 0: for ever. */
  eventsKeptDays: number
  hourlyJobs: JobRunnerOptions['hourlyJobs']
  /** Deletes a person, with the workspaces that have no other members. */
  deletePerson: (userId: string) => Promise<{ isDeleted: boolean }>
}

const dayMs = 24 * 60 * 60 * 1000
const agentCallsKeptMs = 90 * dayMs
const loggedCallsKeptMs = 30 * dayMs
const placesKeptMs = 90 * dayMs
const deliveriesKeptMs = 30 * dayMs
/** How long revoked and expired API keys are kept, and grants of agents that ended. */
const endedAccessKeptMs = 400 * dayMs

/** Starts running the jobs of all areas, and the clean-ups, in this process. */
export async function startJobs(options: JobsOptions): Promise<{ stop: () => Promise<void> }> {
  const { db, clock, changes, log, meter, mails, links, webUrl, signUp, pictures, jobs, deletePerson } =
    options
  const { oauthRecordBounds, eventsKeptDays, hourlyJobs } = options
  const ago = (ms: number) => new Date(clock.now().getTime() - ms)
  return startJobRunner({
    pool: db.$client,
    log,
    meter,
    hourlyJobs,
    handlers: {
      ...createAccountsJobs({ db, clock, mails, webUrl, signUp }),
      ...createApiKeysJobs({ db, clock, mails, webUrl }),
      ...createInvitesJobs({ db, clock, mails, links, webUrl }),
      ...createMembersJobs({ db, mails, links, webUrl }),
      ...createMemberUpdatesJobs({ db, clock, jobs }),
      ...createOwnershipJobs({ db, mails, webUrl }),
      ...createAccountDeletionJobs({ db, clock, mails, webUrl }),
      ...createNotificationsJobs({ db, clock, mails, links, webUrl }),
      ...createRemindersJobs({ db, clock, mails, links, webUrl }),
      ...createAgentOAuthJobs({ db, mails, webUrl }),
      ...createWebhooksJobs({ db, mails, webUrl }),
      ...createImportsJobs({ db, clock, changes, jobs }),
      tell_cancelled_requests: () => tellCancelled({ db, clock }),
      collect_pictures: () => collectAll(pictures),
    },
    cleanUps: {
      pictures: () => collectAll(pictures),
      idempotent_requests: () => deleteExpiredIdempotentRequests(db, clock.now()),
      sessions: () => deleteExpiredSessions(db, clock.now()),
      ended_sessions: () => deleteEndedSessions(db, ago(endedSessionKnownMs)),
      flashes: () => deleteExpiredFlashes(db, clock.now()),
      sent_forms: () => deleteExpiredSentForms(db, clock.now()),
      account_tokens: () => deleteExpiredAccountTokens(db, ago(endedLinkKeptMs)),
      abandoned_sign_ups: () => deleteAbandonedSignUps(db, ago(endedLinkKeptMs)),
      pending_sign_ins: () => deleteExpiredPendingSignIns(db, clock.now()),
      challenges: () => deleteExpiredChallenges(db, clock.now()),
      email_changes: () => deleteExpiredEmailChanges(db, clock.now()),
      oauth_records: () => deleteStaleRecords(db, clock.now()),
      oauth_documents: () => deleteUnusedDocuments(db, clock.now()),
      excess_oauth_records: () => deleteExcessRecords(db, oauthRecordBounds, clock.now()),
      known_browsers: () => deleteForgottenBrowsers(db, ago(browserKnownMs)),
      agent_calls: () => deleteOldCalls(db, ago(agentCallsKeptMs)),
      agent_call_log: () =>
        deleteOldLoggedCalls(db, { before: ago(loggedCallsKeptMs), usedSince: ago(dayMs) }),
      agent_grant_places: () => deleteOldGrantAddresses(db, ago(placesKeptMs)),
      webhook_deliveries: () => deleteOldDeliveries(db, ago(deliveriesKeptMs)),
      unused_attachments: () => deleteUnusedAttachments(db, ago(unusedAttachmentsKeptMs)),
      deleted_seeds: () => eraseDeletedSeeds(db, ago(deletedSeedsKeptMs)),
      seed_imports: () =>
        deleteOldImports(db, { draftsBefore: ago(importDraftsKeptMs), before: ago(importsKeptMs) }),
      seed_moves: () => deleteOldMoves(db, ago(mergesUndoneMs)),
      deleted_workspaces: () =>
        eraseDeletedWorkspaces(db, {
          before: ago(deletedWorkspaceKeptMs),
          now: clock.now(),
          slugKeptMs: formerSlugKeptMs,
        }),
      accountDeletions: () =>
        eraseLeavers({
          db,
          clock,
          deletePerson,
          onRefused: (userId) =>
            log.warn({ userId }, 'an account could not be deleted: it is the last owner'),
        }),
      notifications: () => deleteOldNotifications(db, ago(notificationKeptMs)),
      mails: () => deleteOldMails(db, ago(mailRecordKeptMs)),
      events: async () => {
        if (eventsKeptDays > 0) await deleteOldEvents(db, ago(eventsKeptDays * dayMs))
      },
      ended_api_keys: () => deleteEndedApiKeys(db, ago(endedAccessKeptMs)),
      ended_grants: () => deleteEndedGrants(db, ago(endedAccessKeptMs)),
      signing_keys: () => deleteRetiredSigningKeys(db, clock.now()),
    },
    hourly: {
      enqueue_expiry_notices: () => enqueueExpiryNotices({ db, clock, jobs }),
      enqueue_accepted_invites: () => enqueueAcceptedInvites({ db, jobs }),
      enqueue_digests: () => enqueueDigests({ db, clock, jobs }),
      expire_agent_requests: async () => {
        await expireRequests({ db, clock })
        // Of seeds that were restored since.
        await tellCancelled({ db, clock })
      },
      remind_of_decisions: () => remindOfDecisions({ db, clock, jobs }),
      notify_of_ending_grants: () => notifyOfEndingGrants({ db, clock, jobs }),
    },
  })
}

/** Deletes all unused files: a workspace that is erased may leave thousands. */
async function collectAll(pictures: PictureStore): Promise<void> {
  let hasMore = true
  while (hasMore) hasMore = await pictures.collectUnused()
}
