import { and, desc, eq, getTableColumns, gt, isNull, lt, sql, type SQL } from 'drizzle-orm'
import type { Executor } from '../../db/client.ts'
import { jsonItem, jsonRows, readOne, timestampText } from '../../db/json-rows.ts'
import { prepared } from '../../db/prepared.ts'
import { bytesBefore, evidenceBytes, seedBytes } from '../../db/text-bytes.ts'
import { agentGrants } from '../../db/schema/agent-grants.ts'
import { memberships } from '../../db/schema/memberships.ts'
import { evidence, seeds } from '../../db/schema/seeds.ts'
import { principalColumns, users } from '../../db/schema/users.ts'
import { workspaces } from '../../db/schema/workspaces.ts'
import { writeUses } from '../../db/last-used.repository.ts'
import type { Use } from '../../db/use-recorder.ts'
import type { AgentPrincipal } from '../../kernel/agent.ts'
import type { JsonRows } from '../../kernel/pagination.ts'
import type { Verdict } from '../../kernel/seeds.ts'
import { participationIn } from '../seeds/seeds.repository.ts'
import type { Evidence } from '../seeds/seeds.schemas.ts'
import type { KitSeed } from './agent.schemas.ts'

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
      user: principalColumns,
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
 * The agent, person and workspace of a grant, in one round trip. Undefined when the grant is unknown, revoked or expired,
 * or the person has left the workspace.
 */
export async function findLiveGrant(
  executor: Executor,
  grantId: string,
  now: Date,
): Promise<AgentPrincipal | undefined> {
  const [found] = await selectLiveGrant(executor).execute({ grantId, now: now.toISOString() })
  return found
}

/** Records when grants were last used. Skips rows that another replica has locked. */
export function recordGrantUses(executor: Executor, uses: readonly Use[]): Promise<void> {
  return writeUses(executor, agentGrants, uses)
}

/** The seeds of a kit. `isCut`: one of them has more evidence than is shown. */
export interface KitRows extends JsonRows {
  isCut: boolean
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
  const { kind, verdict, summary: finding, sourceUrl, authorUserId, authorName, createdAt } = pieces
  const piece = jsonItem<Evidence>({
    ...{ id: pieces.id, seedId: pieces.seedId, kind, verdict, summary: finding, sourceUrl },
    ...{ authorUserId, authorName, createdAt: timestampText(createdAt) },
  })
  const shown = executor
    .select({
      seedId: pieces.seedId,
      count: sql<number>`count(*)`.as('shown_count'),
      evidence: sql`json_agg(${piece.sql} order by ${pieces.round})`.as('shown_evidence'),
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
  const { id, title, summary, problem, audience, hypothesis, successCriteria, status } = latest
  const { supports, contradicts, neutral } = counts
  const rows = executor
    .select({
      item: jsonItem<KitSeed>({
        ...{ id, title, summary, problem, audience, hypothesis, successCriteria, status },
        ...participationIn(latest.id),
        evidenceCounts: sql`json_build_object(
          'supports', ${supports}, 'contradicts', ${contradicts}, 'neutral', ${neutral}
        )`,
        evidence: sql`coalesce(${shown.evidence}, '[]')`,
      }),
      isCut: sql<boolean>`${supports} + ${contradicts} + ${neutral} > coalesce(${shown.count}, 0)`.as(
        'is_cut',
      ),
    })
    .from(latest)
    .crossJoinLateral(counts)
    .leftJoin(shown, eq(shown.seedId, latest.id))
    .orderBy(latest.place)
    .as('rows')
  return executor
    .with(latest)
    .select({ ...jsonRows(rows.item), isCut: sql<boolean>`coalesce(bool_or(${rows.isCut}), false)` })
    .from(rows)
    .prepare(name)
}

/**
 * The seeds of a workspace, or one of them, latest change first, each with its newest evidence and the counts of all of
 * its evidence. One statement, so that all numbers are from one snapshot. Seeds end with the one that brings their texts
 * to `seedsBytesMax`; evidence, taken in rounds of one piece for each seed, with the piece that brings it to
 * `evidenceBytesMax`.
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
): Promise<KitRows> {
  const { seedId, ...values } = input
  return readOne(
    seedId === undefined
      ? selectKit(executor).execute(values)
      : selectKitOfSeed(executor).execute({ ...values, seedId }),
  )
}
