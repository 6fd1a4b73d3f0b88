import { and, desc, eq, getTableColumns, gt, isNull, lt, sql, type SQL } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { prepared } from '../../db/prepared.ts'
import { bytesBefore, evidenceBytes, seedBytes } from '../../db/text-bytes.ts'
import { agentGrants } from '../../db/schema/agent-grants.ts'
import { memberships } from '../../db/schema/memberships.ts'
import { evidence, seedParticipants, seeds } from '../../db/schema/seeds.ts'
import { users } from '../../db/schema/users.ts'
import { workspaces } from '../../db/schema/workspaces.ts'
import { writeUses } from '../../db/last-used.repository.ts'
import type { Use } from '../../db/use-recorder.ts'
import type { AgentPrincipal } from '../../kernel/agent.ts'
import type { EvidenceKind, SeedStatus, Verdict } from '../../kernel/seeds.ts'

const selectLiveGrant = prepared((executor) =>
  executor
    .select({
      grant: {
        id: agentGrants.id,
        clientId: agentGrants.clientId,
        clientName: agentGrants.clientName,
        scopes: agentGrants.scopes,
        expiresAt: agentGrants.expiresAt,
      },
      user: {
        id: users.id,
        name: users.name,
        email: users.email,
        emailVerifiedAt: users.emailVerifiedAt,
        imageKey: users.imageKey,
      },
      workspace: { id: workspaces.id, name: workspaces.name, slug: workspaces.slug },
      role: memberships.role,
    })
    .from(agentGrants)
    .innerJoin(
      memberships,
      and(eq(memberships.workspaceId, agentGrants.workspaceId), eq(memberships.userId, agentGrants.userId)),
    )
    .innerJoin(users, eq(users.id, agentGrants.userId))
    .innerJoin(workspaces, eq(workspaces.id, agentGrants.workspaceId))
    .where(
      and(
        eq(agentGrants.id, sql.placeholder('grantId')),
        isNull(agentGrants.revokedAt),
        gt(agentGrants.expiresAt, sql.placeholder('now')),
      ),
    )
    .prepare('agent_grants_select_live'),
)

/**
 * Whom and what a grant is for, in one round trip. Undefined for one that is unknown, revoked or expired, or whose
 * person has left the workspace.
 */
export async function findLiveGrant(
  executor: Executor,
  grantId: string,
  now: Date,
): Promise<AgentPrincipal | undefined> {
  const [found] = await selectLiveGrant(executor).execute({ grantId, now: now.toISOString() })
  return found
}

/** Writes down when grants were last used, skipping those that another replica is just writing. */
export function recordGrantUses(executor: Executor, uses: readonly Use[]): Promise<void> {
  return writeUses(executor, agentGrants, uses)
}

/** A seed as a kit shows it. */
export interface KitSeedRow {
  id: string
  title: string
  summary: string
  problem: string | null
  audience: string | null
  hypothesis: string | null
  successCriteria: string[]
  status: SeedStatus
  participantCount: number
  /** Whether the person is in it. */
  joined: boolean
  supports: number
  contradicts: number
  neutral: number
  /** The newest, newest first. */
  evidence: KitEvidenceRow[]
}

export interface KitEvidenceRow {
  id: string
  seedId: string
  kind: EvidenceKind
  verdict: Verdict
  summary: string
  sourceUrl: string | null
  authorUserId: string | null
  authorName: string
  /** RFC 3339, in UTC, with milliseconds. */
  createdAt: string
}

const selectKit = prepared((executor) => prepareKit(executor, 'seeds_select_kit'))
const selectKitOfSeed = prepared((executor) =>
  prepareKit(executor, 'seeds_select_kit_of_seed', eq(seeds.id, sql.placeholder('seedId'))),
)

function prepareKit(executor: Executor, name: string, filter?: SQL) {
  const recent = executor
    .select({
      id: seeds.id,
      updatedAt: seeds.updatedAt,
      size: seedBytes.as('seed_size'),
    })
    .from(seeds)
    .where(and(eq(seeds.workspaceId, sql.placeholder('workspaceId')), filter))
    .orderBy(desc(seeds.updatedAt), desc(seeds.id))
    .limit(sql.placeholder('seedsLimit'))
    .as('recent')
  const order = sql`${recent.updatedAt} desc, ${recent.id} desc`
  const placed = executor
    .select({
      id: recent.id,
      place: sql<number>`row_number() over (order by ${order})`.as('seed_place'),
      bytesBefore: bytesBefore(recent.size, order).as('seeds_before'),
    })
    .from(recent)
    .as('placed')
  const latest = executor.$with('latest').as(
    executor
      .select({ ...getTableColumns(seeds), place: placed.place })
      .from(placed)
      .innerJoin(seeds, eq(seeds.id, placed.id))
      .where(lt(placed.bytesBefore, sql.placeholder('seedsBytesMax'))),
  )
  const newest = executor
    .select({
      ...getTableColumns(evidence),
      round: sql<number>`row_number() over (order by ${evidence.createdAt} desc, ${evidence.id} desc)`.as(
        'round',
      ),
      size: evidenceBytes.as('evidence_size'),
    })
    .from(evidence)
    .where(eq(evidence.seedId, latest.id))
    .orderBy(desc(evidence.createdAt), desc(evidence.id))
    .limit(sql.placeholder('evidenceLimit'))
    .as('newest')
  const pieces = executor
    .select({
      id: newest.id,
      seedId: newest.seedId,
      kind: newest.kind,
      verdict: newest.verdict,
      summary: newest.summary,
      sourceUrl: newest.sourceUrl,
      authorUserId: newest.authorUserId,
      authorName: newest.authorName,
      createdAt: newest.createdAt,
      round: newest.round,
      bytesBefore: bytesBefore(newest.size, sql`${newest.round}, ${latest.place}`).as('evidence_before'),
    })
    .from(latest)
    .crossJoinLateral(newest)
    .as('pieces')
  // As JSON: a thousand rows of their own would take the server longer to send, and us longer to read.
  const shown = executor
    .select({
      seedId: pieces.seedId,
      evidence: sql<KitEvidenceRow[]>`json_agg(json_build_object(
        'id', ${pieces.id}, 'seedId', ${pieces.seedId}, 'kind', ${pieces.kind}, 'verdict', ${pieces.verdict},
        'summary', ${pieces.summary}, 'sourceUrl', ${pieces.sourceUrl}, 'authorUserId', ${pieces.authorUserId},
        'authorName', ${pieces.authorName}, 'createdAt', ${pieces.createdAt}
      ) order by ${pieces.round})`.as('shown_evidence'),
    })
    .from(pieces)
    .where(lt(pieces.bytesBefore, sql.placeholder('evidenceBytesMax')))
    .groupBy(pieces.seedId)
    .as('shown')
  const countOf = (verdict: Verdict) =>
    sql<number>`(count(*) filter (where ${evidence.verdict} = ${sql.raw(`'${verdict}'`)}))::int`.as(verdict)
  const counts = executor
    .select({
      supports: countOf('supports'),
      contradicts: countOf('contradicts'),
      neutral: countOf('neutral'),
    })
    .from(evidence)
    .where(eq(evidence.seedId, latest.id))
    .as('counts')
  return executor
    .with(latest)
    .select({
      id: latest.id,
      title: latest.title,
      summary: latest.summary,
      problem: latest.problem,
      audience: latest.audience,
      hypothesis: latest.hypothesis,
      successCriteria: latest.successCriteria,
      status: latest.status,
      participantCount: sql<number>`(
        select count(*)::int from ${seedParticipants} where ${seedParticipants.seedId} = ${latest.id}
      )`,
      joined: sql<boolean>`exists (
        select from ${seedParticipants}
        where ${seedParticipants.seedId} = ${latest.id} and ${seedParticipants.userId} = ${sql.placeholder('userId')}
      )`,
      supports: counts.supports,
      contradicts: counts.contradicts,
      neutral: counts.neutral,
      evidence: sql<KitEvidenceRow[]>`coalesce(${shown.evidence}, '[]')`,
    })
    .from(latest)
    .crossJoinLateral(counts)
    .leftJoin(shown, eq(shown.seedId, latest.id))
    .orderBy(latest.place)
    .prepare(name)
}

/**
 * The seeds of a workspace, or one of them, latest change first, each with its newest evidence and the numbers of all of
 * it: one statement, so that the numbers are those of one moment, however many seeds there are. Seeds end with the one
 * whose texts exceed `seedsBytesMax` in all, and evidence, in rounds of one piece for each seed, with the one that
 * exceeds `evidenceBytesMax`.
 */
export async function readKitSeeds(
  executor: Executor,
  input: {
    workspaceId: string
    userId: string
    seedId: string | undefined
    seedsLimit: number
    evidenceLimit: number
    seedsBytesMax: number
    evidenceBytesMax: number
  },
): Promise<KitSeedRow[]> {
  const { seedId, ...values } = input
  const rows = await (seedId === undefined
    ? selectKit(executor).execute(values)
    : selectKitOfSeed(executor).execute({ ...values, seedId }))
  // In place: a thousand copies would take longer than all else that happens to them here.
  for (const { evidence: pieces } of rows) {
    for (const piece of pieces) piece.createdAt = toTimestamp(piece.createdAt)
  }
  return rows
}

/**
 * A time as PostgreSQL writes it in JSON, in our form. For a thousand of them to go through Date would cost a tenth of the
 * whole request; only a session whose time zone is not UTC needs that.
 */
function toTimestamp(text: string): string {
  if (!text.endsWith('+00:00')) return new Date(text).toISOString()
  // Zeros at the end of the milliseconds are left out, all of them with the point.
  const time = text.slice(0, -6)
  return `${time}${time.length === 19 ? '.' : ''}`.padEnd(23, '0') + 'Z'
}
