import { Type, type Static } from '@sinclair/typebox'
import { exampleIds, exampleTime } from '../../../http/description/examples.ts'
import { operation, pathParams, slugParams, streamOperation } from '../../../http/description/operation.ts'
import { importFaultsMax, importRowsMax, shownImportStates } from '../../../domain/seed-imports.ts'
import { errors, workspaceErrors } from '../../../kernel/errors.ts'
import {
  closed,
  exampleOf,
  named,
  nullableInteger,
  nullableString,
  nullableTimestamp,
  ok,
  ref,
  stringEnum,
  timestamp,
} from '../../../kernel/schemas.ts'
import { seedFilters, seedParams } from '../seeds.schemas.ts'
import { importedFields, seedColumns } from './seed-columns.ts'

const TableFault = named(
  'TableFault',
  {
    row: Type.Integer({ description: 'The row, as spreadsheets count: the header is row 1.' }),
    field: nullableString({ description: 'The field of a seed; null if it is about the whole row.' }),
    code: Type.String({ description: 'An error code.' }),
    message: Type.String({ description: 'What is wrong, in words, for people. It may change.' }),
  },
  { row: 7, field: 'summary', code: errors.textInvalid.code, message: 'This text must not be blank.' },
  'What is wrong with a row of a table.',
)

const faults = {
  faultyCount: Type.Integer({ description: 'How many rows have faults.' }),
  faults: Type.Array(ref(TableFault), { description: `Their faults, the first ${importFaultsMax}.` }),
}

export const SeedImportPreview = named(
  'SeedImportPreview',
  {
    mapping: Type.Array(
      closed({
        column: Type.String({ description: 'The name of the column.' }),
        field: Type.String({ description: 'The field of a seed.' }),
      }),
      { description: 'The columns that are read. All others are left out.' },
    ),
    total: Type.Integer({ description: 'The rows of the table, with those that have faults.' }),
    ...faults,
  },
  {
    mapping: [
      { column: 'Idea', field: 'title' },
      { column: 'Description', field: 'summary' },
    ],
    total: 120,
    faultyCount: 1,
    faults: [exampleOf(TableFault)],
  },
  'What an import of a table creates.',
)
export type SeedImportPreview = Static<typeof SeedImportPreview>

const SeedImportBeginning = named(
  'SeedImportBeginning',
  {
    ok,
    importId: nullableString({ description: 'The id of the import; null with `dryRun`.' }),
    preview: ref(SeedImportPreview),
  },
  { ok: true, importId: exampleIds.seedImport, preview: exampleOf(SeedImportPreview) },
)

export const SeedImport = named(
  'SeedImport',
  {
    id: Type.String({ description: 'The id of the import.' }),
    workspaceId: Type.String({ description: 'The id of the workspace.' }),
    state: stringEnum(shownImportStates, {
      description:
        'How far it is. `stopped`: its creator could no longer create seeds, or it failed; what was created stays. ' +
        '`undoing` and `undone`: its seeds are being deleted, or were.',
    }),
    total: Type.Integer({ description: 'How many seeds it creates.' }),
    done: Type.Integer({ description: 'How many it has created.' }),
    ...faults,
    createdByUserId: nullableString({
      description: 'The person who made it. Null: the account was deleted.',
    }),
    createdByName: nullableString({ description: 'Their name. Null: the account was deleted.' }),
    createdAt: timestamp('When it began.'),
    finishedAt: nullableTimestamp('When it was done or stopped; null before.'),
    removedCount: nullableInteger('Of one that was undone: how many seeds were deleted. Null of others.'),
    keptCount: nullableInteger(
      'Of one that was undone: how many stayed, since others have added to them. Null of others.',
    ),
  },
  {
    ...{ id: exampleIds.seedImport, workspaceId: exampleIds.workspace, state: 'running' },
    ...{ total: 119, done: 100, faultyCount: 1, faults: [exampleOf(TableFault)] },
    ...{ createdByUserId: exampleIds.user, createdByName: 'Grace Hopper', createdAt: exampleTime },
    ...{ finishedAt: null, removedCount: null, keptCount: null },
  },
  'An import of seeds from a table.',
)
export type SeedImport = Static<typeof SeedImport>

const SeedImportUndoing = named(
  'SeedImportUndoing',
  { ok, keptCount: Type.Integer({ description: 'How many seeds stay, since others have added to them.' }) },
  { ok: true, keptCount: 2 },
)

export const seedTablesSchemas = [
  TableFault,
  SeedImportPreview,
  SeedImportBeginning,
  SeedImport,
  SeedImportUndoing,
]

const yesOrNo = (description: string) =>
  Type.Optional(stringEnum(['true', 'false'], { default: 'false', description }))

export const seedsImport = operation({
  id: 'seeds.import',
  summary: 'Import seeds from a table',
  description:
    `For members and above: a table in CSV (UTF-8, with commas, semicolons or tabs) of up to 5 MiB and ` +
    `${importRowsMax.toLocaleString('en')} rows below its header. Each row becomes a seed of the caller by the rules of ` +
    '`seeds.create`; several success criteria are lines of their cell, and a status is set once the seed is there. If rows ' +
    'have faults, nothing is imported, unless `skipFaults` leaves these out: the answer is 400 `decode_error`, with `rows`, ' +
    'the row and the field as `path`. The seeds are created in the background, 100 at once; nobody is notified. One import ' +
    'of a workspace runs at a time. An apostrophe that an export has put before a formula is taken away.',
  params: slugParams,
  body: closed({
    mapping: Type.Optional(
      Type.String({
        description:
          'A JSON object: which field each column is, by the name of the column. The fields are ' +
          `${importedFields.map((field) => `\`${field}\``).join(', ')}; title and summary are needed. Absent: by the names ` +
          'of the columns.',
      }),
    ),
    dryRun: yesOrNo('`true`: nothing is imported. The answer says what would be.'),
    skipFaults: yesOrNo('`true`: rows with faults are left out.'),
  }),
  success: ref(SeedImportBeginning),
  returns: 'The import, which has begun.',
  errors: [
    ...workspaceErrors,
    errors.roleInsufficient,
    errors.tableInvalid,
    errors.mappingInvalid,
    errors.importInProgress,
  ],
})

const importParams = pathParams('slug', 'importId')

export const seedsImportStatus = operation({
  id: 'seeds.importStatus',
  summary: 'Read how far an import is',
  description: 'For all members. It is known for 30 days.',
  params: importParams,
  success: ref(SeedImport),
  returns: 'The import.',
  errors: workspaceErrors,
})

export const seedsUndoImport = operation({
  id: 'seeds.undoImport',
  summary: 'Undo an import',
  description:
    'For who made it, owners and admins, for 14 days. Its seeds are deleted, as by `seeds.delete`, in the background; those ' +
    'stay to which anybody else has added evidence, comments or an edit, which others have joined, or which were merged.',
  params: importParams,
  success: ref(SeedImportUndoing),
  returns: 'How many seeds stay, as it is now; `seeds.importStatus` counts those that did.',
  errors: [
    ...workspaceErrors,
    errors.roleInsufficient,
    errors.importInProgress,
    errors.importUndone,
    errors.importExpired,
  ],
})

const safeCells =
  'A cell that a spreadsheet could take for a formula, since it begins with `=`, `+`, `-`, `@` (also in full width), a tab or ' +
  'a line break, begins with an apostrophe, which an import takes away again.'

const line = (cells: readonly string[]) => `${cells.join(',')}\r\n`

export const seedsExportCsv = streamOperation(
  {
    id: 'seeds.exportCsv',
    summary: 'Export seeds as CSV',
    description:
      'For all members. The seeds that `seeds.list` has with the same filters, newest first, a row each, with a header. ' +
      `${safeCells} \`seeds.import\` reads the file. If it breaks off, the connection is closed before its end.`,
    params: slugParams,
    querystring: closed(seedFilters),
    returns: 'The table.',
    errors: [...workspaceErrors, errors.idLimit],
  },
  {
    type: 'text/csv',
    example:
      line(seedColumns.slice(0, 2).map(({ heading }) => heading)) + line(['Onboarding', 'Without a call.']),
  },
)

export const seedsExportEvidenceCsv = streamOperation(
  {
    id: 'seeds.exportEvidenceCsv',
    summary: 'Export the evidence of a seed as CSV',
    description: `For all members of its workspace: all evidence, also withdrawn, oldest first, a row each, with a header. ${safeCells}`,
    params: seedParams,
    returns: 'The table.',
    errors: [errors.notFound],
  },
  {
    type: 'text/csv',
    example:
      line(['Verdict', 'Kind', 'Summary']) + line(['supports', 'interview', 'Four of five asked for it.']),
  },
)
