import { and, eq, sql, type Column, type SQL } from 'drizzle-orm'
import { evidence, seeds } from '../schema/seeds.ts'
import { hiddenParameter } from './hidden-parameter.ts'

/** A seed, with its workspace. */
export interface SeedKey {
  workspaceId: string
  seedId: string
}

/** A piece of evidence, with its workspace. */
export interface EvidenceKey {
  workspaceId: string
  evidenceId: string
}

const seedId = sql.placeholder('seedId')

/** Whether a seed is that of the statement's `workspaceId` and `seedId`. */
export const isSeed: SQL | undefined = and(
  eq(seeds.workspaceId, sql.placeholder('workspaceId')),
  eq(seeds.id, seedId),
)

/** Whether evidence is that of the statement's `workspaceId` and `evidenceId`. */
export const isPiece: SQL | undefined = and(
  eq(evidence.workspaceId, sql.placeholder('workspaceId')),
  eq(evidence.id, sql.placeholder('evidenceId')),
)

/** Whether a row is of the seed of the statement's `workspaceId` and `seedId`. For statements that read several rows. */
export function isOfSeed(table: { workspaceId: Column; seedId: Column }): SQL | undefined {
  return and(eq(table.workspaceId, hiddenParameter('workspaceId', 'uuid')), eq(table.seedId, seedId))
}

/** Whether a row is of the seed and the person of the statement's `workspaceId`, `seedId` and `userId`. */
export function isOfSeedAndUser(table: {
  workspaceId: Column
  seedId: Column
  userId: Column
}): SQL | undefined {
  return and(
    eq(table.workspaceId, sql.placeholder('workspaceId')),
    eq(table.seedId, seedId),
    eq(table.userId, sql.placeholder('userId')),
  )
}
