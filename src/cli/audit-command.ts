import { userInfo } from 'node:os'
import type { Command } from 'commander'

/** The options that say whom or what a command is about. Others may have texts of people. */
const targetOptions = ['email', 'to', 'owner', 'id', 'slug']

/**
 * Records that a command was run, if AUDIT_LOG is a file. Nothing for help, for a command that does not exist, and with
 * settings that are invalid, with which no command does anything.
 */
export async function auditCommand(
  program: Command,
  { outcome, code }: { outcome: 'done' | 'refused'; code?: string },
): Promise<void> {
  const command = program.commands.find((candidate) => candidate.name() === process.argv[2])
  if (!command || code === 'usage' || process.argv.some((argument) => /^(-h|--help)$/.test(argument))) return
  const { loadConfig, readEnvironment } = await import('../config/config.ts')
  const path = readPath(() => loadConfig(readEnvironment()).auditLog)
  if (path === undefined) return
  const { openAuditFile } = await import('../platform/audit/audit-log.ts')
  const options = command.opts<Record<string, unknown>>()
  openAuditFile(path).record({
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
  })
}

function readPath(read: () => string): string | undefined {
  try {
    const destination = read()
    return ['stdout', 'off'].includes(destination) ? undefined : destination
  } catch {
    return undefined
  }
}
