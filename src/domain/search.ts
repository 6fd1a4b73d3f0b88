/** What a search finds. */
export const searchKinds = ['seed', 'evidence', 'comment', 'person', 'team'] as const

export type SearchKind = (typeof searchKinds)[number]

/**
 * The most matches of each kind of which all are compared. Of more, only those with the words in their title and the newest
 * are found.
 */
export const searchComparedMax = 400
/** The most matches of each kind that are counted. */
export const searchCountMax = 1000

export const searchLengthMax = 100
