import { and, eq, inArray, or, sql, type Column, type SQL } from 'drizzle-orm'
import type { PgTable } from 'drizzle-orm/pg-core'
import { findTracesInEvents } from '../../areas/events/events.repository.ts'
import type { PersonExport } from '../../areas/me/person-export.schemas.ts'
import type { Executor } from '../../db/client.ts'
import { formerEmails, identities, sessions } from '../../db/schema/accounts.ts'
import { agentGrants } from '../../db/schema/agent-grants.ts'
import { apiKeys } from '../../db/schema/api-keys.ts'
import { agentRequests } from '../../db/schema/agent-requests.ts'
import { attachments } from '../../db/schema/attachments.ts'
import { comments } from '../../db/schema/comments.ts'
import { events } from '../../db/schema/events.ts'
import { invites } from '../../db/schema/invites.ts'
import { memberships } from '../../db/schema/memberships.ts'
import { notifications } from '../../db/schema/notifications.ts'
import { passkeys } from '../../db/schema/passkeys.ts'
import { filtersOfSaved, savedFilters } from '../../db/schema/saved-filters.ts'
import {
  evidence,
  evidenceSeen,
  isKeptOrMerged,
  seedFollowers,
  seedParticipants,
  seeds,
} from '../../db/schema/seeds.ts'
import { teamMembers, teams } from '../../db/schema/teams.ts'
import { isWorkspace, workspaces } from '../../db/schema/workspaces.ts'
import { comparableAddress } from '../../db/sql/has-address.ts'
import { readExportPages, type ExportSource } from '../../db/sql/export-pages.ts'
import type { PrincipalUser } from '../../domain/principal.ts'
import { findUserById } from '../../users/users.repository.ts'

type ListName = Exclude<keyof PersonExport, 'profile'>
type Sources = { [Name in ListName]: ExportSource<PersonExport[Name][number]> }

/**
 * Everything that is a person's, as the JSON text of a `PersonExport` in chunks: their account, what gives access to it, and
 * what they wrote and did in workspaces, also in those that they have left. No secrets, and nothing of others.
 */
export async function* readPerson(
  executor: Executor,
  { id }: PrincipalUser,
  pictureUrlOf: (key: string | null) => string | null,
): AsyncGenerator<string> {
  const user = await findUserById(executor, id)
  if (!user) return
  const { name, email, emailVerifiedAt, imageKey, productUpdates, workspaceActivity, createdAt } = user
  const { notifyMentions, notifyDigest, notifyRoleChanges, notifyAcceptedInvites } = user
  const { notifyAgents, notifyAgentRequests, notifyDecisions } = user
  const profile: PersonExport['profile'] = {
    id,
    name,
    email,
    image: pictureUrlOf(imageKey),
    productUpdates,
    workspaceActivity,
    notifyMentions,
    notifyDigest,
    notifyRoleChanges,
    notifyAcceptedInvites,
    notifyAgents,
    notifyAgentRequests,
    notifyDecisions,
    emailVerifiedAt: emailVerifiedAt?.toISOString() ?? null,
    createdAt: createdAt.toISOString(),
  }
  yield `{"profile":${JSON.stringify(profile)}`
  const { workspaceIds } = await findTracesInEvents(executor, id)
  const sources = sourcesOf({ id, email, workspaceIds })
  for (const [list, source] of Object.entries<ExportSource<Record<string, unknown>>>(sources)) {
    yield `,"${list}":[`
    let separator = ''
    for await (const items of readExportPages(executor, source)) {
      yield separator + items.join(',')
      separator = ','
    }
    yield ']'
  }
  yield '}\n'
}

interface Exported {
  id: string
  email: string
  /** The workspaces with events of the person. */
  workspaceIds: readonly string[]
}

function source<Item>(table: PgTable, rest: Omit<ExportSource<Item>, 'table'>): ExportSource<Item> {
  return { table, ...rest }
}

/** What is exported of a person, beside their profile, and how. */
export function sourcesOf({ id, email, workspaceIds }: Exported): Sources {
  const isOf = (table: { userId: Column }): SQL => eq(table.userId, id)
  return {
    formerEmails: source(formerEmails, {
      columns: { email: formerEmails.email, changedAt: formerEmails.changedAt },
      where: isOf(formerEmails),
      keys: [formerEmails.email],
    }),
    apiKeys: source(apiKeys, {
      columns: {
        id: apiKeys.id,
        name: apiKeys.name,
        tokenPrefix: apiKeys.tokenPrefix,
        lastFour: apiKeys.lastFour,
        access: apiKeys.access,
        workspaceIds: apiKeys.workspaceIds,
        maxRole: apiKeys.maxRole,
        expiresAt: apiKeys.expiresAt,
        rotatedAt: apiKeys.rotatedAt,
        createdAt: apiKeys.createdAt,
        lastUsedAt: apiKeys.lastUsedAt,
        revokedAt: apiKeys.revokedAt,
      },
      where: isOf(apiKeys),
      keys: [apiKeys.id],
    }),
    sessions: source(sessions, {
      columns: {
        userAgent: sessions.userAgent,
        createdAt: sessions.createdAt,
        lastUsedAt: sessions.lastUsedAt,
      },
      where: isOf(sessions),
      keys: [sessions.id],
    }),
    passkeys: source(passkeys, {
      columns: { name: passkeys.name, createdAt: passkeys.createdAt, lastUsedAt: passkeys.lastUsedAt },
      where: isOf(passkeys),
      keys: [passkeys.id],
    }),
    identities: source(identities, {
      columns: {
        issuer: identities.issuer,
        subject: identities.subject,
        createdAt: identities.createdAt,
        unlinkedAt: identities.unlinkedAt,
      },
      where: isOf(identities),
      keys: [identities.issuer, identities.subject],
    }),
    workspaces: source(memberships, {
      columns: {
        id: workspaces.id,
        name: workspaces.name,
        slug: workspaces.slug,
        role: memberships.role,
        joinedAt: memberships.joinedAt,
      },
      joined: { table: workspaces, on: isWorkspace(memberships.workspaceId) },
      where: isOf(memberships),
      keys: [memberships.workspaceId],
    }),
    teams: source(teamMembers, {
      columns: {
        id: teams.id,
        workspaceId: teamMembers.workspaceId,
        name: teams.name,
        addedAt: teamMembers.addedAt,
      },
      joined: { table: teams, on: eq(teams.id, teamMembers.teamId) },
      where: isOf(teamMembers),
      keys: [teamMembers.teamId],
    }),
    agents: source(agentGrants, {
      columns: {
        id: agentGrants.id,
        workspaceId: agentGrants.workspaceId,
        clientId: agentGrants.clientId,
        clientName: agentGrants.clientName,
        clientUri: agentGrants.clientUri,
        scopes: agentGrants.scopes,
        membersMayAsk: agentGrants.membersMayAsk,
        createdAt: agentGrants.createdAt,
        lastUsedAt: agentGrants.lastUsedAt,
        expiresAt: agentGrants.expiresAt,
        revokedAt: agentGrants.revokedAt,
        assertedIssuer: agentGrants.assertedIssuer,
      },
      where: isOf(agentGrants),
      keys: [agentGrants.id],
    }),
    invites: source(invites, {
      columns: {
        id: invites.id,
        workspaceId: invites.workspaceId,
        email: invites.email,
        role: invites.role,
        createdAt: invites.createdAt,
      },
      where: or(eq(invites.invitedByUserId, id), eq(invites.canonicalEmail, comparableAddress(email))),
      keys: [invites.id],
    }),
    seeds: source(seeds, {
      columns: {
        id: seeds.id,
        workspaceId: seeds.workspaceId,
        title: seeds.title,
        summary: seeds.summary,
        problem: seeds.problem,
        audience: seeds.audience,
        hypothesis: seeds.hypothesis,
        successCriteria: seeds.successCriteria,
        criteria: seeds.criteria,
        question: seeds.question,
        decideBy: seeds.decideBy,
        status: seeds.status,
        mergedIntoSeedId: seeds.mergedIntoSeedId,
        createdAt: seeds.createdAt,
      },
      where: and(eq(seeds.createdByUserId, id), isKeptOrMerged),
      keys: [seeds.id],
    }),
    savedFilters: source(savedFilters, {
      columns: {
        id: savedFilters.id,
        workspaceId: savedFilters.workspaceId,
        name: savedFilters.name,
        shared: sql<boolean>`${savedFilters.ownerUserId} is null`,
        filters: filtersOfSaved,
        createdAt: savedFilters.createdAt,
        updatedAt: savedFilters.updatedAt,
      },
      where: or(eq(savedFilters.ownerUserId, id), eq(savedFilters.sharedByUserId, id)),
      keys: [savedFilters.id],
    }),
    statusChanges: source(seeds, {
      columns: {
        seedId: seeds.id,
        workspaceId: seeds.workspaceId,
        status: seeds.status,
        statusReason: seeds.statusReason,
        statusChangedAt: seeds.statusChangedAt,
      },
      where: and(eq(seeds.statusChangedByUserId, id), isKeptOrMerged),
      keys: [seeds.id],
    }),
    merges: source(seeds, {
      columns: {
        seedId: seeds.id,
        workspaceId: seeds.workspaceId,
        mergedIntoSeedId: seeds.mergedIntoSeedId,
        mergedAt: seeds.mergedAt,
      },
      where: eq(seeds.mergedByUserId, id),
      keys: [seeds.id],
    }),
    evidence: source(evidence, {
      columns: {
        id: evidence.id,
        seedId: evidence.seedId,
        kind: evidence.kind,
        verdict: evidence.verdict,
        summary: evidence.summary,
        sourceUrl: evidence.sourceUrl,
        criterionIds: evidence.criterionIds,
        agentName: evidence.agentName,
        createdAt: evidence.createdAt,
        editedAt: evidence.editedAt,
        withdrawnAt: evidence.withdrawnAt,
      },
      where: eq(evidence.authorUserId, id),
      keys: [evidence.id],
    }),
    seenEvidence: source(evidenceSeen, {
      columns: { evidenceId: evidenceSeen.evidenceId, seenAt: evidenceSeen.seenAt },
      where: isOf(evidenceSeen),
      keys: [evidenceSeen.evidenceId],
    }),
    comments: source(comments, {
      columns: {
        id: comments.id,
        seedId: comments.seedId,
        evidenceId: comments.evidenceId,
        body: comments.body,
        agentName: comments.agentName,
        createdAt: comments.createdAt,
        editedAt: comments.editedAt,
      },
      where: eq(comments.authorUserId, id),
      keys: [comments.id],
    }),
    attachments: source(attachments, {
      columns: {
        id: attachments.id,
        workspaceId: attachments.workspaceId,
        seedId: attachments.seedId,
        evidenceId: attachments.evidenceId,
        commentId: attachments.commentId,
        name: attachments.name,
        type: attachments.type,
        bytes: attachments.bytes,
        sha256: sql`encode(${attachments.sha256}, 'hex')`,
        createdAt: attachments.createdAt,
      },
      where: eq(attachments.createdByUserId, id),
      keys: [attachments.id],
    }),
    agentRequests: source(agentRequests, {
      columns: {
        id: agentRequests.id,
        commentId: agentRequests.commentId,
        agentName: agentRequests.agentName,
        state: agentRequests.state,
        reason: agentRequests.reason,
        createdAt: agentRequests.createdAt,
      },
      where: eq(agentRequests.askedByUserId, id),
      keys: [agentRequests.id],
    }),
    participations: source(seedParticipants, {
      columns: { seedId: seedParticipants.seedId, joinedAt: seedParticipants.joinedAt },
      where: isOf(seedParticipants),
      keys: [seedParticipants.seedId],
    }),
    follows: source(seedFollowers, {
      columns: { seedId: seedFollowers.seedId },
      where: isOf(seedFollowers),
      keys: [seedFollowers.seedId],
    }),
    notifications: source(notifications, {
      columns: {
        id: notifications.id,
        workspaceId: notifications.workspaceId,
        kind: notifications.kind,
        seedId: notifications.seedId,
        createdAt: notifications.createdAt,
        readAt: notifications.readAt,
      },
      where: isOf(notifications),
      keys: [notifications.createdAt, notifications.id],
    }),
    events: source(events, {
      columns: {
        id: events.id,
        workspaceId: events.workspaceId,
        type: events.type,
        source: events.source,
        summary: events.summary,
        createdAt: events.createdAt,
      },
      where: and(inArray(events.workspaceId, [...workspaceIds]), eq(events.actorUserId, id)),
      keys: [events.workspaceId, events.createdAt, events.id],
    }),
  }
}
