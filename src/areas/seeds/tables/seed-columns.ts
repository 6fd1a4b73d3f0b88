import { seedStatuses, type SeedStatus } from '../../../domain/seeds.ts'
import { errors } from '../../../kernel/errors.ts'
import { parseCriteria } from '../seed-criteria.ts'
import { parseStatusReason, parseTexts, type SeedInput } from '../seed-texts.ts'
import type { Seed } from '../seeds.service.ts'

/** A seed as a row of a table has it. */
export interface TableSeed extends Pick<
  SeedInput,
  'title' | 'summary' | 'problem' | 'audience' | 'hypothesis' | 'successCriteria' | 'question' | 'decideBy'
> {
  status?: SeedStatus
  /** Only with another status than `open`. */
  statusReason?: string
}

/** A column of tables of seeds. One without `parse` is only exported. */
interface SeedColumn {
  /** The field of a seed, as `mapping` names it. */
  field: string
  /** What the header of an export says. */
  heading: string
  /** What the headers of other tables say, in lower case. */
  aliases?: readonly string[]
  /** The text of a cell. */
  write: (seed: Seed) => string | number | null
  /** The text of a cell as a part of a new seed. Throws `text_invalid` and the like. */
  parse?: (cell: string) => Partial<TableSeed>
  /** Whether an import needs it. */
  isRequired?: boolean
}

/** A cell with a text that may be absent. */
const textOf =
  (field: 'problem' | 'audience' | 'hypothesis' | 'question' | 'decideBy') =>
  (cell: string): Partial<TableSeed> => {
    const text = cell.trim()
    if (text === '') return {}
    parseTexts({ [field]: text })
    return { [field]: text }
  }

/**
 * The columns of tables of seeds, in their order: an export writes all of them, and an import reads those with `parse`. What
 * an export wrote, an import reads as the same texts.
 */
export const seedColumns = [
  {
    field: 'title',
    heading: 'Title',
    aliases: ['name', 'idea', 'seed', 'subject'],
    write: ({ title }) => title,
    parse(cell) {
      const title = cell.trim()
      parseTexts({ title })
      return { title }
    },
    isRequired: true,
  },
  {
    field: 'summary',
    heading: 'Summary',
    aliases: ['description', 'details', 'body', 'text', 'notes'],
    write: ({ summary }) => summary,
    parse(cell) {
      const summary = cell.trim()
      parseTexts({ summary })
      return { summary }
    },
    isRequired: true,
  },
  {
    field: 'problem',
    heading: 'Problem',
    write: ({ problem }) => problem,
    parse: textOf('problem'),
  },
  {
    field: 'audience',
    heading: 'Audience',
    aliases: ['target group', 'customers', 'users'],
    write: ({ audience }) => audience,
    parse: textOf('audience'),
  },
  {
    field: 'hypothesis',
    heading: 'Hypothesis',
    write: ({ hypothesis }) => hypothesis,
    parse: textOf('hypothesis'),
  },
  {
    field: 'successCriteria',
    heading: 'Success criteria',
    aliases: ['criteria', 'acceptance criteria'],
    write: ({ successCriteria }) => successCriteria.join('\n'),
    parse(cell) {
      const successCriteria = cell
        .split(/\r\n|\r|\n/)
        .map((line) => line.trim())
        .filter((line) => line !== '')
      parseCriteria({ successCriteria })
      return { successCriteria }
    },
  },
  {
    field: 'question',
    heading: 'Question',
    aliases: ['decision'],
    write: ({ question }) => question,
    parse: textOf('question'),
  },
  {
    field: 'decideBy',
    heading: 'Decide by',
    aliases: ['due', 'due date', 'deadline'],
    write: ({ decideBy }) => decideBy,
    parse: textOf('decideBy'),
  },
  {
    field: 'status',
    heading: 'Status',
    aliases: ['state'],
    write: ({ status }) => status,
    parse(cell) {
      const word = cell.trim().toLowerCase()
      if (word === '') return {}
      const status = seedStatuses.find((each) => each === word)
      if (status === undefined)
        throw errors.textInvalid({
          field: 'status',
          message: `This must be one of ${seedStatuses.join(', ')}.`,
        })
      return { status }
    },
  },
  {
    field: 'statusReason',
    heading: 'Reason for the status',
    aliases: ['reason', 'status reason'],
    write: ({ statusReason }) => statusReason,
    parse(cell) {
      const statusReason = cell.trim()
      if (statusReason === '') return {}
      parseStatusReason({ status: 'open', statusReason })
      return { statusReason }
    },
  },
  { field: 'leadName', heading: 'Lead', write: ({ leadName }) => leadName },
  { field: 'teamName', heading: 'Team', write: ({ teamName }) => teamName },
  { field: 'labels', heading: 'Labels', write: ({ labels }) => labels.map(({ name }) => name).join('\n') },
  { field: 'createdByName', heading: 'Created by', write: ({ createdByName }) => createdByName },
  { field: 'createdAt', heading: 'Created at', write: ({ createdAt }) => createdAt },
  { field: 'activityAt', heading: 'Last activity', write: ({ activityAt }) => activityAt },
  { field: 'decidedAt', heading: 'Decided at', write: ({ decidedAt }) => decidedAt },
  { field: 'decidedByName', heading: 'Decided by', write: ({ decidedByName }) => decidedByName },
  { field: 'supports', heading: 'Evidence for', write: ({ evidenceCounts }) => evidenceCounts.supports },
  {
    field: 'contradicts',
    heading: 'Evidence against',
    write: ({ evidenceCounts }) => evidenceCounts.contradicts,
  },
  { field: 'neutral', heading: 'Neutral evidence', write: ({ evidenceCounts }) => evidenceCounts.neutral },
  { field: 'participants', heading: 'Participants', write: ({ participantCount }) => participantCount },
  { field: 'comments', heading: 'Comments', write: ({ commentCount }) => commentCount },
  { field: 'url', heading: 'URL', write: ({ url }) => url },
  { field: 'id', heading: 'Id', write: ({ id }) => id },
] as const satisfies readonly SeedColumn[]

/** A column that an import reads. */
export type ImportedColumn = SeedColumn & Required<Pick<SeedColumn, 'parse'>>

/** The columns that an import reads. */
export const importedColumns: readonly ImportedColumn[] = (seedColumns as readonly SeedColumn[]).filter(
  (column): column is ImportedColumn => column.parse !== undefined,
)

/** The fields of seeds that a column of a table can be. */
export const importedFields: readonly string[] = importedColumns.map(({ field }) => field)

/** The seed of a row: a reason counts only with another status than `open`, which a new seed has. */
export function completeTableSeed(seed: TableSeed): TableSeed {
  const { status = 'open', statusReason, ...rest } = seed
  if (status === 'open') return rest
  return { ...rest, status, ...(statusReason !== undefined && { statusReason }) }
}
