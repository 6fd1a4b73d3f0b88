import { createInterface } from 'node:readline/promises'
import { CommandError, UsageError } from './command.ts'
import { toVisible } from './output.ts'

/** Asks on a terminal whether to do what cannot be undone, unless `--yes` has said so. Throws when the answer is no. */
export async function confirm(
  question: string,
  { yes, json }: { yes?: boolean; json?: boolean },
): Promise<void> {
  if (yes) return
  if (!process.stdin.isTTY || !process.stderr.isTTY || json) {
    throw new UsageError('This cannot be undone. Pass --yes to confirm: nobody can be asked here.')
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await terminal.question(`${toVisible(question)} [y/N] `).finally(() => terminal.close())
  if (!/^y(es)?$/i.test(answer.trim())) throw new CommandError('refused', 'Cancelled. Nothing was changed.')
}
