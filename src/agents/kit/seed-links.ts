import type { AgentPrincipal } from '../../domain/agent.ts'

/** The URLs of seeds on the website. */
export interface SeedLinks {
  urlOf(agent: AgentPrincipal, seedId: string): string
}

export function createSeedLinks(webUrl: string): SeedLinks {
  return { urlOf: ({ workspace }, seedId) => `${webUrl}/w/${workspace.slug}/seeds/${seedId}` }
}
