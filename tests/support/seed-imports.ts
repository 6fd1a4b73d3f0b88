import { expect } from 'vitest'
import type { LightMyRequestResponse } from 'fastify'
import { createChanges } from '../../src/access/change.ts'
import { createImportsJobs } from '../../src/areas/seeds/tables/imports.jobs.ts'
import type { SeedImport, SeedImportPreview } from '../../src/areas/seeds/tables/seed-tables.schemas.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { createGraphileQueue } from '../../src/platform/jobs/graphile-queue.repository.ts'
import { get, type TestCompany } from './company.ts'
import { buildForm } from './forms.ts'
import type { TestApp, TestPerson } from './test-app.ts'

/** Sends a table. */
export function sendTable(
  { as }: Pick<TestApp, 'as'>,
  person: TestPerson,
  { url }: Pick<TestCompany, 'url'>,
  content: string | Buffer,
  fields: Record<string, string> = {},
): Promise<LightMyRequestResponse> {
  const form = buildForm(...Object.entries(fields).map(([name, value]) => ({ name, content: value })), {
    filename: 'ideas.csv',
    type: 'text/csv',
    content,
  })
  return as(person, { method: 'POST', url: `${url}/seeds/import`, ...form })
}

/** Begins an import. */
export async function beginImport(...input: Parameters<typeof sendTable>): Promise<string> {
  const answer = await sendTable(...input)
  expect(answer.statusCode, answer.body).toBe(200)
  return String(answer.json<{ importId: string | null; preview: SeedImportPreview }>().importId)
}

/** How far an import is. */
export async function findImport(
  { as }: Pick<TestApp, 'as'>,
  person: TestPerson,
  { url }: Pick<TestCompany, 'url'>,
  importId: string,
): Promise<SeedImport> {
  const answer = await as(person, get(`${url}/seeds/imports/${importId}`))
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json<SeedImport>()
}

/** Runs the job of the next slice of an import, in a process of which nothing else runs. */
export async function runSlice(
  { db }: Pick<TestApp, 'db'>,
  importId: string,
  { isLastAttempt = false } = {},
): Promise<void> {
  const changes = createChanges({ db, clock: systemClock })
  const jobs = createImportsJobs({ db, clock: systemClock, changes, jobs: createGraphileQueue() })
  const job = { id: '1', number: '1', name: 'run_seed_import', attempt: 1, isLastAttempt } as const
  await jobs.run_seed_import({ importId, source: 'api', apiKeyId: null }, job)
}

/** A table of so many seeds. */
export function makeTable(count: number): string {
  const rows = Array.from({ length: count }, (_, i) => `Idea ${i + 1},What idea ${i + 1} is\r\n`)
  return `Title,Summary\r\n${rows.join('')}`
}
