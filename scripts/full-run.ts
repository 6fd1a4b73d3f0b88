import { spawnSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { format, resolveConfig } from 'prettier'
import { kinds, type Kind } from './full-kinds.ts'

export type Outcome = 'green' | 'red' | 'not done'

/** What came of a kind of `.ci/full`, as docs/full-run.md keeps it. */
export interface KindResult {
  name: string
  commit: string
  date: string
  outcome: Outcome
  seconds: number
  /** The first line that says why, of one that is not green; of one that is, which tests failed once, and passed alone. */
  why: string
}

const root = new URL('../', import.meta.url)
const file = new URL('docs/full-run.md', root)
const head = `# The last full run

Made by \`.ci/full --write\`, kind by kind. A row counts until files of its kind change (scripts/full-kinds.ts). [CONTRIBUTING.md](../CONTRIBUTING.md#running-things) says when to run which.
`

/** Puts results into docs/full-run.md, each in the place of the former of its kind. */
export async function writeResults(results: readonly KindResult[]): Promise<void> {
  const rows = new Map([...(await readResults()), ...results.map((result) => [result.name, result] as const)])
  const lines = kinds.flatMap(({ name }) => toRow(rows.get(name)))
  const table = [
    '| kind | result | commit | date | seconds | why, or which tests failed once |',
    '| --- | --- | --- | --- | --: | --- |',
  ]
  const style = await resolveConfig(fileURLToPath(file))
  const text = [head, ...table, ...lines].join('\n')
  await writeFile(file, await format(text, { ...style, parser: 'markdown' }))
}

async function readResults(): Promise<Map<string, KindResult>> {
  const text = await readFile(file, 'utf8').catch(() => '')
  const rows = text.split('\n').filter((line) => line.startsWith('| `'))
  return new Map(
    rows.map((row) => {
      const [, name = '', outcome, commit = '', date = '', seconds, why = ''] = row
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim().replaceAll('`', ''))
      return [name, { name, commit, date, outcome: outcome as Outcome, seconds: Number(seconds), why }]
    }),
  )
}

function toRow(result: KindResult | undefined): string[] {
  if (!result) return []
  const { name, outcome, commit, date, seconds } = result
  const why = result.why.replaceAll('`', '').replaceAll(/(?<!\\)\|/g, '\\|')
  return [`| \`${name}\` | ${outcome} | ${commit} | ${date} | ${seconds} | ${why && `\`${why}\``} |`]
}

/** The kinds without a green result that still counts, with the reason. */
export async function findMissingResults(): Promise<{ name: string; reason: string }[]> {
  const results = await readResults()
  return kinds.flatMap((kind) => {
    const reason = findReason(kind, results.get(kind.name))
    return reason === undefined ? [] : [{ name: kind.name, reason }]
  })
}

function findReason({ files }: Kind, result: KindResult | undefined): string | undefined {
  if (!result) return 'was not run'
  const { commit, date, outcome, why } = result
  if (outcome !== 'green') return `was ${outcome} at ${commit} on ${date}${why && `: ${why}`}`
  const { status } = spawnSync('git', ['diff', '--quiet', commit, '--', ...files], { cwd: root })
  return status === 0 ? undefined : `was green at ${commit} on ${date}; its files have changed since`
}

/** Each kind, with what is known of it, one to a line. */
export async function describeKinds(): Promise<string> {
  const missing = new Map((await findMissingResults()).map(({ name, reason }) => [name, reason]))
  return kinds
    .map(({ name, does }) => `  ${name.padEnd(14)} ${does} (${missing.get(name) ?? 'green'})`)
    .join('\n')
}
