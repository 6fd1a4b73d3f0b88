const dayMs = 24 * 60 * 60 * 1000

/** How long a former slug keeps working, and how long nobody else can take it or the slug of a deleted workspace. */
export const formerSlugKeptMs = 90 * dayMs

/** How long an operator can restore a deleted workspace. Then it is erased. */
export const deletedWorkspaceKeptMs = 14 * dayMs

/** What an API key does with a whole workspace only after its owner has allowed it on the website. */
export const allowedActions = ['workspaces.transferOwnership', 'workspaces.delete'] as const
export type AllowedAction = (typeof allowedActions)[number]

/** How long that is allowed. */
export const actionAllowedMs = 10 * 60 * 1000
