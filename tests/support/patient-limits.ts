import type { Limits } from '../../src/db/client.ts'

/**
 * How long requests wait for anything where a test file has no limits of its own, in milliseconds. With the limits of
 * production, a machine that stalls for some seconds would answer 503 or 429 to requests that are right.
 */
export const patientMs = 60_000

/** The same for the database. */
export const patientLimits: Limits = { connectMs: patientMs, lockMs: patientMs, statementMs: patientMs }
