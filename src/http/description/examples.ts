/** Values that the examples of the API description share, so that they are consistent. */
export const exampleIds = {
  apiKey: '01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e01',
  evidence: '01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e02',
  event: '01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e03',
  grant: '01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e04',
  invite: '01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e05',
  seed: '01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e06',
  team: '01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e07',
  user: '01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08',
  workspace: '01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e09',
}

/** The time of everything in the examples. */
export const exampleTime = '2026-11-21T03:04:05.678Z'
/** `exampleTime` in seconds since 1970. */
export const exampleInstant = Math.floor(Date.parse(exampleTime) / 1000)
export const exampleExpiry = '2026-11-28T03:04:05.678Z'

export const exampleImageUrl = 'https://api.example.com/pictures/Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4.webp'
export const exampleInviteUrl = 'https://app.example.com/invites/3q2-7wAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
