import { createInterface } from 'node:readline/promises'
import { CommandError, UsageError } from './command.ts'
import { toVisible } from './output.ts'

/** Asks for confirmation unless `--yes` is given. Throws if the answer is no, or if there is no terminal to ask on. */
export async function confirm(
  question: string,
  { yes, json }: { yes?: boolean; json?: boolean },
): Promise<void> {
  if (yes) return
  if (!process.stdin.isTTY || !process.stderr.isTTY || json) {
    throw new UsageError('This cannot be undone. Pass --yes to confirm without a prompt.')
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await terminal.question(`${toVisible(question)} [y/N] `).finally(() => terminal.close())
  if (!/^y(es)?$/i.test(answer.trim())) throw new CommandError('refused', 'Cancelled. Nothing was changed.')
}
