/** The most labels of a workspace. */
export const labelsMax = 100

/** The most labels of a seed. */
export const seedLabelsMax = 10
