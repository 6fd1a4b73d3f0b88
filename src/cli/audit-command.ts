import { userInfo } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import type { AuditEntry } from '../kernel/audit.ts'

/** The options that say whom or what a command is about. Others may have texts of people. */
const targetOptions = ['email', 'to', 'owner', 'id', 'slug']

/** They use no database, or change nothing in it. */
const unaudited = new Set(['check', 'export-openapi'])

/**
 * Records that a command was run, unless AUDIT_LOG is `off`: in its file, or with `stdout` in `audit.log` of DATA_DIR, as
 * standard output has the answer. Where that cannot be written, as on a read-only file system, on standard error. Nothing
 * for help, for a command that does not exist, and with settings that are invalid, with which no command does anything.
 */
export async function auditCommand(
  program: Command,
  { outcome, code }: { outcome: 'done' | 'refused'; code?: string },
): Promise<void> {
  const command = program.commands.find((candidate) => candidate.name() === process.argv[2])
  if (
    !command ||
    unaudited.has(command.name()) ||
    code === 'usage' ||
    process.argv.some((argument) => /^(-h|--help)$/.test(argument))
  )
    return
  const { loadConfig, readEnvironment } = await import('../config/config.ts')
  const path = readPath(() => loadConfig(readEnvironment()))
  if (path === undefined) return
  const { openAuditFile } = await import('../platform/audit/audit-log.ts')
  const options = command.opts<Record<string, unknown>>()
  const entry: AuditEntry = {
    action: `admin ${command.name()}`,
    outcome,
    code,
    actor: { systemUser: userInfo().username },
    target: Object.fromEntries(
      targetOptions.flatMap((name) => {
        const value = options[name]
        return typeof value === 'string' ? [[name, value]] : []
      }),
    ),
  }
  try {
    openAuditFile(path).record(entry)
  } catch (error) {
    const line = { time: new Date().toISOString(), audit: true, ...entry }
    process.stderr.write(`The audit cannot be written (${String(error)}):\n${JSON.stringify(line)}\n`)
  }
}

function readPath(read: () => { auditLog: string; dataDir: string }): string | undefined {
  try {
    const { auditLog, dataDir } = read()
    if (auditLog === 'off') return undefined
    return auditLog === 'stdout' ? join(dataDir, 'audit.log') : auditLog
  } catch {
    return undefined
  }
}
