/** What an import of seeds can be; `draft` is one of the website that has not begun. */
export const seedImportStates = ['draft', 'running', 'done', 'stopped', 'undoing', 'undone'] as const

export type SeedImportState = (typeof seedImportStates)[number]

/** The states that the API shows. */
export const shownImportStates = ['running', 'done', 'stopped', 'undoing', 'undone'] as const

/** The maximum number of rows of a table that is imported, without its header and blank rows. */
export const importRowsMax = 5000

/** How many seeds one transaction of an import creates or deletes. */
export const importSliceRows = 100

/** How many faults of rows are listed. */
export const importFaultsMax = 100

/** How long an import can be undone. */
export const importsUndoneMs = 14 * 24 * 60 * 60 * 1000

/** How long it is known how an import went. */
export const importsKeptMs = 30 * 24 * 60 * 60 * 1000

/** How long a table waits that was uploaded on the website. */
export const importDraftsKeptMs = 24 * 60 * 60 * 1000

/** What is wrong with a row of a table. */
export interface RowFault {
  /** The row as spreadsheets count: the header is row 1. */
  row: number
  /** The field of a seed; null if it is about the whole row. */
  field: string | null
  /** As in the error catalogue. */
  code: string
  message: string
}
