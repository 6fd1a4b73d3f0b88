export { exampleIds } from '../../domain/example-ids.ts'

/** A cursor of the feed of events. */
export const exampleFeedCursor = 'q2nVvN0o5zRbIjQyIiwiMDE5MzZmMmUtN2MxYS03ZDNlLThiNTItMGY0YzZhOWQxZTAzIl0'

/** The time of everything in the examples. */
export const exampleTime = '2026-11-21T03:04:05.678Z'
/** `exampleTime` in seconds since 1970. */
export const exampleInstant = Math.floor(Date.parse(exampleTime) / 1000)
export const exampleExpiry = '2026-11-28T03:04:05.678Z'

export const exampleImageUrl = 'https://api.example.com/pictures/Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4.webp'
export const exampleInviteUrl = 'https://app.example.com/invites/3q2-7wAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
