/** A pooler has given the statements of one connection to another one: invalid_sql_statement_name, duplicate_prepared_statement. */
export const lostStatementCodes: ReadonlySet<string> = new Set(['26000', '42P05'])

/** A schema or a table is not there: invalid_schema_name, undefined_table. */
const missingTableCodes: ReadonlySet<string> = new Set(['3F000', '42P01'])

const unavailableCodes = new Set([
  ...lostStatementCodes,
  ...missingTableCodes, // in the middle of a restore
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  '25006', // read_only_sql_transaction: the server has been replaced
  '25P03', // idle_in_transaction_session_timeout
  '40001', // serialization_failure
  '40P01', // deadlock_detected
  '53100', // disk_full
  '53200', // out_of_memory
  '53300', // too_many_connections
  '55P03', // lock_not_available: lock_timeout
  '57014', // query_canceled: statement_timeout
  '57P01', // admin_shutdown
  '57P02', // crash_shutdown
  '57P03', // cannot_connect_now
])

// node-postgres gives these no code.
const unavailableMessages = [
  'timeout exceeded when trying to connect',
  'Connection terminated',
  'Client has encountered a connection error and is not queryable',
]

/**
 * Whether an error, or one of its causes, means that the database is unavailable: unreachable, shut down, out of
 * resources, too slow, being restored, or not accepted by this process or accepting it, as while its certificate or the
 * password is changed. A retry may succeed.
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (isCertificateRefused(error)) return true
  return someCause(error, ({ code, message }) => {
    if (typeof code === 'string' && (unavailableCodes.has(code) || /^(08|28)...$/.test(code))) return true
    return typeof message === 'string' && unavailableMessages.some((start) => message.startsWith(start))
  })
}

/** Whether an error, or one of its causes, is that the server refuses the account or its password (class 28). */
export function isLoginRefused(error: unknown): boolean {
  return someCause(error, ({ code }) => typeof code === 'string' && /^28...$/.test(code))
}

/** Whether an error, or one of its causes, is that the certificate of the server is not valid for this process. */
export function isCertificateRefused(error: unknown): boolean {
  return someCause(
    error,
    ({ code }) =>
      typeof code === 'string' && /^(CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|ERR_TLS_CERT_)/.test(code),
  )
}

/** Whether an error, or one of its causes, is that a table, or its schema, is not there. */
export function isTableMissing(error: unknown): boolean {
  return someCause(error, ({ code }) => typeof code === 'string' && missingTableCodes.has(code))
}

/** Whether an error, or one of its causes, is that a lock was not had within `lock_timeout`. */
export function isLockTimeout(error: unknown): boolean {
  return someCause(error, ({ code }) => code === '55P03')
}

/** Whether an error, or one of its causes, is a violation of the named unique constraint or index. */
export function isUniqueViolation(error: unknown, constraint: string): boolean {
  return someCause(error, (cause) => cause.code === '23505' && cause.constraint === constraint)
}

/** Whether an error, or one of its causes, is a violation of the named foreign key. */
export function isForeignKeyViolation(error: unknown, constraint: string): boolean {
  return someCause(error, (cause) => cause.code === '23503' && cause.constraint === constraint)
}

interface MaybeDatabaseError {
  code?: unknown
  constraint?: unknown
  message?: unknown
}

function someCause(error: unknown, test: (cause: MaybeDatabaseError) => boolean): boolean {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth++) {
    if (test(cause)) return true
  }
  return false
}
