/** The most teams of an invite. */
export const inviteTeamsMax = 10
