import type { ValidationKit } from '../../src/agents/kit/kit.service.ts'

type Row = Record<string, string | number | null | undefined>

/** The seeds of the table of a validation kit, by the names of its columns. */
export function readTable({ summaries }: Pick<ValidationKit, 'summaries'>): Row[] {
  const { columns = [], rows = [] } = summaries ?? {}
  return rows.map((row) => Object.fromEntries(columns.map((column, i) => [column, row[i]])))
}
