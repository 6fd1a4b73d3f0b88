import type { SeedStatus } from '../../domain/seeds.ts'

/** What a seed is, for people who have not made one. */
export const whatIsSeed = 'A seed is an early idea that you want to test before you build it.'

/** What people do with seeds. */
export const howSeedsGo =
  'Write down the problem, who has it and what you believe. People join, add evidence for and against it, ' +
  'and you decide together: validated or dropped.'

export const whatIsJoining = 'Who joins adds evidence, and is notified of what others add.'

export const whatIsLead = 'The lead is whom others ask about the seed. Every member can still change it.'

/** What each status says about a seed. */
export const whatIsStatus: Record<SeedStatus, string> = {
  open: 'Nobody tests the idea yet.',
  validating: 'People collect evidence for and against it.',
  validated: 'The evidence is enough to build it.',
  dropped: 'The idea is not followed up. What was found out stays.',
}
