/** The path of the permanent addresses of seeds on the website. */
export const seedPagesPath = '/s/'

/**
 * What the address of a seed's page begins with; its id follows. The address stays the same when the workspace gets another
 * slug: the website redirects to the page.
 */
export const toSeedUrlPrefix = (webUrl: string): string => `${webUrl}${seedPagesPath}`

/** The things of a seed whose place on its page has an address: `#comment-ID`, `#evidence-ID`. */
export const partsOfSeedPages = ['comment', 'evidence'] as const

/** The URL of what an event is about: a seed, or its evidence or a comment on its page. Null for anything else. */
export function toEventUrl(
  { seedId, targetType, targetId }: { seedId: string | null; targetType: string; targetId: string },
  seedUrlPrefix: string,
): string | null {
  if (seedId === null) return null
  const isPart = partsOfSeedPages.some((part) => part === targetType)
  return `${seedUrlPrefix}${seedId}${isPart ? `#${targetType}-${targetId}` : ''}`
}

/** The URL of a comment, on the page of its seed. */
export const toCommentUrl = ({ id, seedId }: { id: string; seedId: string }, seedUrlPrefix: string): string =>
  `${seedUrlPrefix}${seedId}#comment-${id}`
