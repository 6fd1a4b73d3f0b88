import { execFileSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { format, resolveConfig } from 'prettier'
import type { Fault, Outcome } from './fault.ts'
import { root } from './stage.ts'

/** What a fault came to: skipped for a reason, broken off, or an outcome. */
export interface Result {
  name: string
  goal: string
  does: string
  seconds: number
  outcome?: Outcome
  skipped?: string
}

const file = join(root, 'docs/reliability.md')
const [begin, end] = ['<!-- table: npm run faults -- --write -->', '<!-- end of the table -->']
const columns = [
  'fault',
  'requests',
  'failed',
  'longest stall ms',
  'lost',
  'doubled',
  'recovery ms',
  'commit',
  'goal met',
]

/** Puts results into docs/reliability.md, each in the place of the former of its name. */
export async function writeTable(faults: readonly Fault[], results: readonly Result[]): Promise<void> {
  const text = await readFile(file, 'utf8')
  const [before = '', rest = ''] = text.split(begin)
  const [table = '', after = ''] = rest.split(end)
  const rows = new Map<string, string>()
  for (const line of table.split('\n').filter((candidate) => candidate.startsWith('| `'))) {
    const name = /`([^`]+)`/.exec(line)?.[1]
    if (name !== undefined) rows.set(name, line)
  }
  for (const result of results) rows.set(result.name, toRow(result))
  const lines = faults.map(({ name }) => rows.get(name) ?? `| \`${name}\` | | | | | | | | not run |`)
  const head = [`| ${columns.join(' | ')} |`, `| --- | ${'--: | '.repeat(6)}--- | --- |`]
  const made = `Last written ${new Date().toISOString().slice(0, 10)}, on ${availableParallelism()} cores, Node.js ${process.versions.node}, with everything on one machine.`
  const list = faults.map(({ name, does, goal }) => `- \`${name}\`: ${does}. Goal: ${goal}.`)
  const whole = [
    before,
    begin,
    '',
    made,
    '',
    ...head,
    ...lines,
    '',
    'What each does:',
    '',
    ...list,
    '',
    end,
    after,
  ]
  await writeFile(file, await format(joinLines(whole), { ...(await resolveConfig(file)), filepath: file }))
}

const joinLines = ([before = '', ...lines]: string[]) =>
  before + lines.slice(0, -1).join('\n') + (lines.at(-1) ?? '')

function commit(): string {
  return execFileSync('git', ['-C', root, 'rev-parse', '--short', 'HEAD']).toString().trim()
}

function toRow({ name, outcome, skipped }: Result): string {
  if (!outcome) return `| \`${name}\` | | | | | | | ${commit()} | ${toCell(`skipped: ${skipped}`)} |`
  const { requests, failed, slowestMs, lost, doubled, recoveryMs, misses } = outcome
  const numbers = [requests, failed, slowestMs, lost, doubled, recoveryMs].map((value) => value ?? '')
  const verdict = misses.length === 0 ? 'yes' : `no: ${misses.join('; ')}`
  const notes = outcome.notes.filter((note) => note && !verdict.includes(note))
  return `| \`${name}\` | ${numbers.join(' | ')} | ${commit()} | ${toCell([verdict, ...notes].join('. '))} |`
}

const toCell = (text: string) => text.replaceAll('|', '/').replaceAll('\n', ' ')

/** A result in a few lines. */
export function describeResult({ name, seconds, outcome, skipped }: Result): string {
  if (!outcome) return `${name}: skipped, ${skipped}`
  const { misses, notes, ...numbers } = outcome
  const figures = Object.entries(numbers).map(([key, value]) => `${key} ${value}`)
  return [
    `${name}: ${misses.length === 0 ? 'met' : 'MISSED'} (${seconds} s; ${figures.join(', ')})`,
    ...misses.map((miss) => `  missed: ${miss}`),
    ...notes.map((note) => `  ${note}`),
  ].join('\n')
}
