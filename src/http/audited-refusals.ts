import type { AuditEntry, AuditLog } from '../kernel/audit.ts'

const windowMs = 60_000
/** How many refusals of one address have a line each, in a minute. */
export const refusalLinesMax = 20
/** How many addresses are told apart; the others are counted together. */
const addressesMax = 10_000

export interface AuditedRefusals extends AuditLog {
  /** Writes the lines of what was counted. */
  flush: () => void
}

/**
 * An audit that writes the first refusals of an address in a minute, and counts the rest in one line, so that a stranger
 * cannot fill it. What was done always has its line.
 */
export function countRefusals(audit: AuditLog, now: () => number = Date.now): AuditedRefusals {
  let since = now()
  let counts = new Map<string | undefined, number>()

  function flush(): void {
    const counted = [...counts].filter(([, count]) => count > refusalLinesMax)
    counts = new Map()
    since = now()
    for (const [address, count] of counted)
      audit.record({
        ...{ action: 'refusals', outcome: 'refused', actor: {}, target: {} },
        ...{ address, count: count - refusalLinesMax },
      })
  }

  function record(entry: AuditEntry): void {
    if (now() - since >= windowMs) flush()
    if (entry.outcome === 'done') {
      audit.record(entry)
      return
    }
    const isKnown = counts.has(entry.address) || counts.size < addressesMax
    const address = isKnown ? entry.address : undefined
    const count = (counts.get(address) ?? 0) + 1
    counts.set(address, count)
    if (count <= refusalLinesMax) audit.record(entry)
  }

  return { record, flush }
}
