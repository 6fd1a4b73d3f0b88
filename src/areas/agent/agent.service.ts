import type { Database } from '../../db/client.ts'
import type { AgentPrincipal } from '../../kernel/agent.ts'
import type { Clock } from '../../kernel/clock.ts'
import { errors } from '../../kernel/errors.ts'
import { isId } from '../../kernel/ids.ts'
import { countFitting, jsonBytesOf } from '../../kernel/json-size.ts'
import { parseJson, type Json } from '../../kernel/json-text.ts'
import { firstRows } from '../../kernel/pagination.ts'
import { readKitSeeds, type KitRows } from './agent.repository.ts'
import type { KitSeed, ValidationKit } from './agent.schemas.ts'

/** The most seeds that a kit shows, and the most pieces of evidence of each. */
export const kitSeedsMax = 50
export const kitEvidenceMax = 20
/**
 * The most bytes of a kit as JSON; seeds without their evidence take half of it at most. A single seed fits with its
 * evidence unless nearly every character takes four bytes.
 */
export const kitBytesMax = 512 * 1024
// Reserved for the workspace and the grant.
const headBytesMax = 8 * 1024

export type { ValidationKit }

export interface KitService {
  /**
   * Reads the kit of the workspace of the grant; with `seedId`, only that seed. `bytesMax` limits the kit as JSON. Throws
   * `not_found` for a seed that is not in the workspace.
   */
  read(agent: AgentPrincipal, input?: { seedId?: string }, bytesMax?: number): Promise<Json<ValidationKit>>
}

export function createKitService({ db, clock }: { db: Database; clock: Clock }): KitService {
  return {
    async read({ grant, user, workspace, role }, { seedId } = {}, bytesMax = kitBytesMax) {
      if (seedId !== undefined && !isId(seedId)) throw errors.notFound()
      const rows = await readKitSeeds(db, {
        workspaceId: workspace.id,
        userId: user.id,
        seedId,
        // One more than is shown, to set `truncated`.
        seedsLimit: kitSeedsMax + 1,
        evidenceLimit: kitEvidenceMax,
        seedsBytesMax: bytesMax / 2,
        evidenceBytesMax: bytesMax,
      })
      if (seedId !== undefined && rows.count === 0) throw errors.notFound()
      const { json, truncated } = await cutToBudget(rows, bytesMax - headBytesMax)
      const head: Omit<ValidationKit, 'seeds' | 'truncated'> = {
        version: '1',
        generatedAt: clock.now().toISOString(),
        workspace: { id: workspace.id, name: workspace.name, slug: workspace.slug },
        grant: {
          id: grant.id,
          clientName: grant.clientName,
          userId: user.id,
          userName: user.name,
          role,
          scopes: grant.scopes,
          expiresAt: grant.expiresAt.toISOString(),
        },
      }
      const start = JSON.stringify(head).slice(0, -1)
      return `${start},"seeds":${json},"truncated":${truncated}}` as Json<ValidationKit>
    },
  }
}

/** The seeds that fit into `bytesMax` bytes, as the JSON of an array, and whether that leaves out anything. */
async function cutToBudget(rows: KitRows, bytesMax: number): Promise<{ json: string; truncated: boolean }> {
  const { text, count } = firstRows(rows, kitSeedsMax)
  const json = `[${text}]` as Json<KitSeed[]>
  const truncated = count < rows.count || rows.isCut
  // Parsed only if it has to be cut. PostgreSQL puts some spaces between tokens, which are left out then.
  if (Buffer.byteLength(json) <= bytesMax) return { json, truncated }
  const { seeds, isCut } = await cutSeeds(parseJson(json), bytesMax)
  return { json: JSON.stringify(seeds), truncated: truncated || isCut }
}

/**
 * Removes what exceeds the budget: first seeds, the oldest change first, then evidence in rounds, so that every seed keeps
 * its newest piece before any keeps a second one. Seeds without their evidence take half of the budget at most.
 */
async function cutSeeds(all: KitSeed[], bytesMax: number): Promise<{ seeds: KitSeed[]; isCut: boolean }> {
  const bare = all.map((seed) => ({ ...seed, evidence: [] as KitSeed['evidence'] }))
  const seeds = bare.slice(0, Math.max(1, await countFitting(bare, bytesMax / 2)))
  const rounds = Array.from({ length: kitEvidenceMax }, (_, round) =>
    all.slice(0, seeds.length).flatMap(({ evidence }, place) => {
      const piece = evidence[round]
      return piece ? [{ place, piece }] : []
    }),
  ).flat()
  const pieces = rounds.map(({ piece }) => piece)
  const fitting = await countFitting(pieces, bytesMax - jsonBytesOf(seeds))
  for (const { place, piece } of rounds.slice(0, fitting)) seeds[place]?.evidence.push(piece)
  return { seeds, isCut: seeds.length < all.length || fitting < pieces.length }
}
