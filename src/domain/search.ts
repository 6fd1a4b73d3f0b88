/** What a search finds. */
export const searchKinds = ['seed', 'evidence', 'comment', 'person', 'team'] as const

export type SearchKind = (typeof searchKinds)[number]

/** Those that are about seeds, which can be filtered. */
export const searchKindsOfSeeds = ['seed', 'evidence', 'comment'] as const satisfies SearchKind[]

/**
 * How well something has to match: `exact` has all words or their beginnings, `similar` almost, such as in another number or
 * with a mistake in them.
 */
export const searchMatches = ['exact', 'similar'] as const

export type SearchMatch = (typeof searchMatches)[number]

/** With fewer results than this, what is similar is looked for. */
export const searchFewResults = 3

/** What has an entry in the index: also the invited, whom only the directory finds. */
export const searchEntryKinds = [...searchKinds, 'invited'] as const

export type SearchEntryKind = (typeof searchEntryKinds)[number]

/**
 * The most matches of each kind of which all are compared. Of more, only those with the words in their title and the newest
 * are found.
 */
export const searchComparedMax = 400
/** The same of those that are then filtered. */
export const searchFilteredMax = 1000
/** The most matches of each kind that are counted. */
export const searchCountMax = 1000

export const searchLengthMax = 100
