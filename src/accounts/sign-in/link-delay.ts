import { randomInt } from 'node:crypto'

/**
 * How long the job of a mail with a link waits, in seconds. The job does more work if the address has an account, and a job
 * that ran beside the answer would show it in the time of the answer.
 */
export type LinkDelay = () => number

/** Between one and three seconds, so that the end of the job tells no more than the time of the answer. */
export const randomLinkDelay: LinkDelay = () => randomInt(1_000, 3_000) / 1_000
