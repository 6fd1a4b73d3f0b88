import type { RequireWorkspace } from '../../access/workspace-access.ts'
import type { Database, Executor } from '../../db/client.ts'
import { likenessMin, likenessTo } from '../../domain/likeness.ts'
import type { Principal } from '../../domain/principal.ts'
import { similarSeedsMax } from '../../domain/seeds.ts'
import { normalizeLine } from '../../kernel/text.ts'
import { findSeedsByTitle, type SeedByTitle } from './similar-seeds.repository.ts'

export interface SimilarSeeds {
  /** Up to five seeds with titles similar to one that is being written, the most similar first. */
  findSimilar(principal: Principal, slug: string, title: string): Promise<SeedByTitle[]>
}

interface SimilarSeedsOptions {
  db: Database
  requireWorkspace: RequireWorkspace
  /** What the URLs of seeds begin with. */
  seedUrlPrefix: string
}

export function createSimilarSeeds({
  db,
  requireWorkspace,
  seedUrlPrefix,
}: SimilarSeedsOptions): SimilarSeeds {
  return {
    async findSimilar(principal, slug, title) {
      const { id: workspaceId } = await requireWorkspace(principal, slug, 'seeds.similar')
      return findSimilarSeeds(db, { workspaceId, title, seedUrlPrefix })
    },
  }
}

/** The seeds of a workspace whose titles are most similar to a title. One statement, or none for a title without words. */
export async function findSimilarSeeds(
  executor: Executor,
  { title, ...where }: { workspaceId: string; title: string; seedUrlPrefix: string },
): Promise<SeedByTitle[]> {
  const asked = normalizeLine(title)
  if (asked === '') return []
  const found = await findSeedsByTitle(executor, { ...where, asked })
  const likenessOf = likenessTo(asked)
  return found
    .map((seed) => ({ seed, likeness: likenessOf(seed.title) }))
    .filter(({ likeness }) => likeness >= likenessMin)
    .sort((one, other) => other.likeness - one.likeness || one.seed.title.length - other.seed.title.length)
    .slice(0, similarSeedsMax)
    .map(({ seed }) => seed)
}
