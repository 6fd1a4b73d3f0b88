import { and, eq, inArray, isNull, lte, or, sql, type Column } from 'drizzle-orm'
import type { PgTable } from 'drizzle-orm/pg-core'
import type { Executor } from '../../../db/client.ts'
import { agentGrants, agentPolicies } from '../../../db/schema/agent-grants.ts'
import { agentRequests } from '../../../db/schema/agent-requests.ts'
import { attachments } from '../../../db/schema/attachments.ts'
import { comments } from '../../../db/schema/comments.ts'
import { events } from '../../../db/schema/events.ts'
import { invites, inviteTeams } from '../../../db/schema/invites.ts'
import { labels } from '../../../db/schema/labels.ts'
import { filtersOfSaved, savedFilters } from '../../../db/schema/saved-filters.ts'
import { memberships } from '../../../db/schema/memberships.ts'
import { evidence, evidenceSeen, isKeptOrMerged, seedParticipants, seeds } from '../../../db/schema/seeds.ts'
import { serviceAccounts } from '../../../db/schema/service-accounts.ts'
import { teamMembers, teams } from '../../../db/schema/teams.ts'
import { users } from '../../../db/schema/users.ts'
import { webhooks } from '../../../db/schema/webhooks.ts'
import { workspaces, workspaceSlugs } from '../../../db/schema/workspaces.ts'
import { labelIdsOfSeed, teamIdOfSeed } from '../../seeds/seed-sorting.repository.ts'
import { storedEventColumns } from '../../events/events.repository.ts'
import { readExportPages, type ExportSource } from '../../../db/sql/export-pages.ts'
import { subquery } from '../../../db/schema/subquery.ts'
import type { WorkspaceExport } from './workspace-export.schemas.ts'

type Source = ExportSource<Record<string, unknown>>
type Sources<Kind extends ExportKind> = { [Each in Kind]: ExportSource<WorkspaceExport[Each]> }

/** The kinds of lines of an export, in their order; `participant`, `evidence`, `evidenceSeen`, `comment`, `attachment` and `agentRequest` follow their seeds. */
export type ExportKind = keyof WorkspaceExport
type PartOfSeed = 'participant' | 'evidence' | 'evidenceSeen' | 'comment' | 'attachment' | 'agentRequest'

/** The id of the workspace with a current slug, deleted or not. */
export async function findWorkspaceId(executor: Executor, slug: string): Promise<string | undefined> {
  const [workspace] = await executor
    .select({ id: workspaces.id })
    .from(workspaceSlugs)
    .innerJoin(workspaces, eq(workspaces.id, workspaceSlugs.workspaceId))
    .where(and(eq(workspaceSlugs.slug, slug), eq(workspaces.slug, slug)))
  return workspace?.id
}

/** Reads everything in a workspace, as lines of a kind, page by page. */
export async function* readWorkspace(
  executor: Executor,
  workspaceId: string,
): AsyncGenerator<{ kind: ExportKind; items: string[] }> {
  for (const [kind, source] of Object.entries(sourcesOf(workspaceId)) as [ExportKind, Source][]) {
    for await (const items of readExportPages(executor, source)) {
      yield { kind, items }
      if (kind === 'seed') yield* readPartsOfSeeds(executor, items)
    }
  }
}

async function* readPartsOfSeeds(executor: Executor, items: string[]) {
  const seedIds = items.map((item) => (JSON.parse(item) as { id: string }).id)
  for (const [kind, source] of Object.entries(sourcesOfSeeds(seedIds)) as [ExportKind, Source][])
    for await (const parts of readExportPages(executor, source)) yield { kind, items: parts }
}

function source<Item>(table: PgTable, rest: Omit<ExportSource<Item>, 'table'>): ExportSource<Item> {
  return { table, ...rest }
}

const person = (userId: Column) => ({ table: users, on: eq(users.id, userId) })

/** What is exported of a workspace, and how. */
export function sourcesOf(workspaceId: string): Sources<Exclude<ExportKind, PartOfSeed>> {
  const { id, name, slug, allowedDomains, creatorUserId, createdAt } = workspaces
  const isIn = (table: { workspaceId: Column }) => eq(table.workspaceId, workspaceId)
  return {
    workspace: source(workspaces, {
      columns: { id, name, slug, allowedDomains, creatorUserId, createdAt },
      where: eq(workspaces.id, workspaceId),
      keys: [id],
    }),
    member: source(memberships, {
      columns: {
        userId: memberships.userId,
        name: users.name,
        email: users.email,
        kind: users.kind,
        role: memberships.role,
        joinedAt: memberships.joinedAt,
      },
      joined: person(memberships.userId),
      where: isIn(memberships),
      keys: [memberships.userId],
    }),
    team: source(teams, {
      columns: { id: teams.id, name: teams.name, createdAt: teams.createdAt },
      where: isIn(teams),
      keys: [teams.createdAt, teams.id],
    }),
    teamMember: source(teamMembers, {
      columns: {
        teamId: teamMembers.teamId,
        userId: teamMembers.userId,
        addedAt: teamMembers.addedAt,
      },
      where: isIn(teamMembers),
      keys: [teamMembers.userId, teamMembers.teamId],
    }),
    label: source(labels, {
      columns: { id: labels.id, name: labels.name, createdAt: labels.createdAt },
      where: isIn(labels),
      keys: [labels.createdAt, labels.id],
    }),
    savedFilter: source(savedFilters, {
      columns: {
        id: savedFilters.id,
        name: savedFilters.name,
        filters: filtersOfSaved,
        sharedByUserId: savedFilters.sharedByUserId,
        createdAt: savedFilters.createdAt,
        updatedAt: savedFilters.updatedAt,
      },
      where: and(isIn(savedFilters), isNull(savedFilters.ownerUserId)),
      keys: [savedFilters.createdAt, savedFilters.id],
    }),
    invite: source(invites, {
      columns: {
        id: invites.id,
        email: invites.email,
        role: invites.role,
        status: sql`case when ${invites.state} = 'open' then 'pending' else ${invites.state} end`,
        invitedByUserId: invites.invitedByUserId,
        teamIds: subquery(
          sql`array(select ${inviteTeams.teamId} from ${inviteTeams} where ${inviteTeams.inviteId} = ${invites.id})`,
        ),
        createdAt: invites.createdAt,
        expiresAt: invites.expiresAt,
        lastSentAt: invites.lastSentAt,
      },
      where: isIn(invites),
      keys: [invites.createdAt, invites.id],
    }),
    integration: source(agentGrants, {
      columns: {
        id: agentGrants.id,
        clientId: agentGrants.clientId,
        clientName: agentGrants.clientName,
        clientUri: agentGrants.clientUri,
        userId: agentGrants.userId,
        scopes: agentGrants.scopes,
        membersMayAsk: agentGrants.membersMayAsk,
        createdAt: agentGrants.createdAt,
        lastUsedAt: agentGrants.lastUsedAt,
        expiresAt: agentGrants.expiresAt,
        revokedAt: agentGrants.revokedAt,
        assertedIssuer: agentGrants.assertedIssuer,
      },
      where: isIn(agentGrants),
      keys: [agentGrants.userId, agentGrants.createdAt, agentGrants.id],
    }),
    agentPolicy: source(agentPolicies, {
      columns: {
        isOn: agentPolicies.isOn,
        scopes: agentPolicies.scopes,
        clients: agentPolicies.clients,
        updatedAt: agentPolicies.updatedAt,
      },
      where: isIn(agentPolicies),
      keys: [agentPolicies.workspaceId],
    }),
    webhook: source(webhooks, {
      columns: {
        id: webhooks.id,
        url: webhooks.url,
        description: webhooks.description,
        format: webhooks.format,
        types: webhooks.types,
        seedIds: webhooks.seedIds,
        teamIds: webhooks.teamIds,
        labelIds: webhooks.labelIds,
        createdAt: webhooks.createdAt,
      },
      where: and(isIn(webhooks), isNull(webhooks.deletedAt)),
      keys: [webhooks.id],
    }),
    serviceAccount: source(serviceAccounts, {
      columns: {
        id: serviceAccounts.id,
        userId: serviceAccounts.userId,
        createdByUserId: serviceAccounts.createdByUserId,
        createdAt: serviceAccounts.createdAt,
      },
      where: and(isIn(serviceAccounts), isNull(serviceAccounts.deletedAt)),
      keys: [serviceAccounts.id],
    }),
    seed: source(seeds, {
      columns: {
        id: seeds.id,
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
        statusChangedAt: seeds.statusChangedAt,
        statusReason: seeds.statusReason,
        statusChangedByUserId: seeds.statusChangedByUserId,
        statusChangedByName: seeds.statusChangedByName,
        createdByUserId: seeds.createdByUserId,
        agentName: seeds.agentName,
        leadUserId: seeds.leadUserId,
        teamId: teamIdOfSeed,
        labelIds: labelIdsOfSeed,
        mergedIntoSeedId: seeds.mergedIntoSeedId,
        mergedAt: seeds.mergedAt,
        mergedByUserId: seeds.mergedByUserId,
        createdAt: seeds.createdAt,
        updatedAt: seeds.updatedAt,
      },
      where: and(isIn(seeds), isKeptOrMerged),
      keys: [seeds.createdAt, seeds.id],
    }),
    event: source(events, {
      columns: storedEventColumns,
      where: isIn(events),
      keys: [events.position],
    }),
  }
}

/** What is exported of seeds, and how. */
export function sourcesOfSeeds(seedIds: readonly string[]): Sources<PartOfSeed> {
  const isOf = (table: { seedId: Column }) => inArray(table.seedId, [...seedIds])
  return {
    participant: source(seedParticipants, {
      columns: {
        seedId: seedParticipants.seedId,
        userId: seedParticipants.userId,
        joinedAt: seedParticipants.joinedAt,
      },
      where: isOf(seedParticipants),
      keys: [seedParticipants.seedId, seedParticipants.userId],
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
        authorUserId: evidence.authorUserId,
        authorName: evidence.authorName,
        agentName: evidence.agentName,
        createdAt: evidence.createdAt,
        editedAt: evidence.editedAt,
        withdrawnAt: evidence.withdrawnAt,
        withdrawnByName: evidence.withdrawnByName,
        withdrawnReason: evidence.withdrawnReason,
      },
      where: isOf(evidence),
      keys: [evidence.seedId, evidence.createdAt, evidence.id],
    }),
    evidenceSeen: source(evidenceSeen, {
      columns: {
        evidenceId: evidenceSeen.evidenceId,
        userId: evidenceSeen.userId,
        seenAt: evidenceSeen.seenAt,
      },
      where: sql`${evidenceSeen.evidenceId} in (select ${evidence.id} from ${evidence} where ${isOf(evidence)})`,
      keys: [evidenceSeen.evidenceId, evidenceSeen.userId],
    }),
    comment: source(comments, {
      columns: {
        id: comments.id,
        seedId: comments.seedId,
        evidenceId: comments.evidenceId,
        body: comments.body,
        authorUserId: comments.authorUserId,
        authorName: comments.authorName,
        agentName: comments.agentName,
        createdAt: comments.createdAt,
        editedAt: comments.editedAt,
      },
      where: isOf(comments),
      keys: [comments.seedId, comments.createdAt, comments.id],
    }),
    attachment: source(attachments, {
      columns: {
        id: attachments.id,
        seedId: attachments.seedId,
        evidenceId: attachments.evidenceId,
        commentId: attachments.commentId,
        name: attachments.name,
        type: attachments.type,
        bytes: attachments.bytes,
        width: attachments.width,
        height: attachments.height,
        sha256: sql`encode(${attachments.sha256}, 'hex')`,
        createdByUserId: attachments.createdByUserId,
        createdAt: attachments.createdAt,
      },
      where: inArray(attachments.seedId, [...seedIds]),
      keys: [attachments.seedId, attachments.createdAt, attachments.id],
    }),
    agentRequest: source(agentRequests, {
      columns: {
        id: agentRequests.id,
        commentId: agentRequests.commentId,
        grantId: agentRequests.grantId,
        agentName: agentRequests.agentName,
        forUserId: agentRequests.forUserId,
        askedByUserId: agentRequests.askedByUserId,
        state: agentRequests.state,
        reason: agentRequests.reason,
        answerCommentId: agentRequests.answerCommentId,
        createdAt: agentRequests.createdAt,
        expiresAt: agentRequests.expiresAt,
      },
      joined: { table: comments, on: eq(comments.id, agentRequests.commentId) },
      where: isOf(comments),
      keys: [agentRequests.createdAt, agentRequests.id],
    }),
  }
}

/**
 * Takes or prolongs the right to export a workspace, while the person owns it. Returns whether it was given: it is not
 * while another export has it.
 */
export async function leaseExport(
  executor: Executor,
  lease: { workspaceId: string; userId: string; now: Date; until: Date; isHeld: boolean },
): Promise<boolean> {
  const { workspaceId, userId, now, until, isHeld } = lease
  const { rowCount } = await executor
    .update(workspaces)
    .set({ exportedUntil: until })
    .where(
      and(
        eq(workspaces.id, workspaceId),
        isNull(workspaces.deletedAt),
        isHeld ? undefined : or(isNull(workspaces.exportedUntil), lte(workspaces.exportedUntil, now)),
        subquery(sql`exists (
          select from ${memberships} as owners
          where owners.workspace_id = ${workspaces.id} and owners.user_id = ${userId} and owners.role = 'owner'
        )`),
      ),
    )
  return rowCount === 1
}

/** Gives the right to export back. */
export async function endExport(executor: Executor, workspaceId: string): Promise<void> {
  await executor.update(workspaces).set({ exportedUntil: null }).where(eq(workspaces.id, workspaceId))
}
