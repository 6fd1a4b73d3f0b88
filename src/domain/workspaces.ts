const dayMs = 24 * 60 * 60 * 1000

/** How long a former slug keeps working, and how long nobody else can take it or the slug of a deleted workspace. */
export const formerSlugKeptMs = 90 * dayMs

/** How long an operator can restore a deleted workspace. Then it is erased. */
export const deletedWorkspaceKeptMs = 14 * dayMs
