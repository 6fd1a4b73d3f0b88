import { pino } from 'pino'
import type { AuditLog } from '../../kernel/audit.ts'

interface Lines {
  info(fields: object, message: string): void
}

/** The log of the process. */
interface Log {
  child(bindings: Record<string, unknown>, options: { level: string }): Lines
}

/**
 * Writes a JSON line with `"audit": true` for each entry. `stdout`: among those of the log, whatever its level; `off`:
 * nowhere; otherwise into the file with this path.
 */
export function openAuditLog(destination: string, log: Log): AuditLog {
  if (destination === 'off') return { record: () => undefined }
  return destination === 'stdout' ? toAuditLog(log.child({}, { level: 'info' })) : openAuditFile(destination)
}

/** Writes each line at the end of a file, which its owner alone may read, before `record` returns. */
export function openAuditFile(path: string): AuditLog {
  const file = pino.destination({ dest: path, append: true, mkdir: true, mode: 0o600, sync: true })
  return toAuditLog(pino({ timestamp: pino.stdTimeFunctions.isoTime }, file))
}

const toAuditLog = (lines: Lines): AuditLog => ({
  record: (entry) => lines.info({ audit: true, ...entry }, 'audit'),
})
