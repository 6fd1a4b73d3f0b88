import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { startEmbeddedDatabase } from '../../src/db/embedded.ts'
import { migrateDatabase } from '../../src/db/migrate.ts'
import { patientLimits } from './patient-limits.ts'
import { startPgbouncer } from './pgbouncer.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** A database server on which tests may make databases. */
    databaseServerUrl: string
    /** The host and port of a pooler in transaction mode that the service uses; empty if it does not. */
    transactionPooler: string
    /** The name of a migrated, empty database to clone. */
    templateDatabase: string
    /** A directory for files that several tests use. Removed at the end of the run. */
    scratchDirectory: string
  }
}

/**
 * Starts a PostgreSQL for the run, or uses that of TEST_DATABASE_URL, and makes the database that workers clone. With
 * TEST_POOLER=session, everything goes through a PgBouncer in session mode; with TEST_POOLER=transaction, the requests of the
 * service through one in transaction mode.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await openServer()
  const template = `template_${process.pid}_${Date.now()}`
  await execute(server.url, `create database ${template}`)
  const pool = new pg.Pool({ connectionString: withDatabase(server.url, template), max: 2 })
  await migrateDatabase(pool)
  await pool.end()
  const pooler =
    process.env.TEST_POOLER === 'transaction' &&
    (await startPgbouncer(server.url, 'transaction', patientLimits))
  project.provide('transactionPooler', pooler ? new URL(pooler.url).host : '')
  project.provide('databaseServerUrl', server.url)
  project.provide('templateDatabase', template)
  const scratchDirectory = await mkdtemp(join(tmpdir(), 'workspace-test-'))
  project.provide('scratchDirectory', scratchDirectory)
  return async () => {
    await rm(scratchDirectory, { recursive: true, force: true })
    if (pooler) await pooler.stop()
    await server.close(template)
  }
}

interface DatabaseServer {
  url: string
  /** Leaves no database of the run behind: neither the template nor its clones. */
  close: (template: string) => Promise<void>
}

async function openServer(): Promise<DatabaseServer> {
  const server = await openPostgres()
  if (process.env.TEST_POOLER !== 'session') return server
  const pooler = await startPgbouncer(server.url, 'session')
  return {
    url: pooler.url,
    close: async (template) => {
      await pooler.stop()
      await server.close(template)
    },
  }
}

async function openPostgres(): Promise<DatabaseServer> {
  const url = process.env.TEST_DATABASE_URL
  if (url) return { url, close: (template) => dropDatabases(url, template) }
  const dataDir = await mkdtemp(join(tmpdir(), 'workspace-test-'))
  // What is lost in a crash of the machine is not missed.
  const settings = {
    fsync: 'off',
    synchronous_commit: 'off',
    full_page_writes: 'off',
    max_connections: '300',
    // There are dozens of short-lived databases, and a process would visit all of them once a minute.
    autovacuum: 'off',
  }
  const database = await startEmbeddedDatabase({ dataDir, settings })
  return {
    url: database.url,
    // Its databases go with it. Dropping them one by one takes long: PostgreSQL makes a checkpoint for each.
    close: async () => {
      await database.stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

async function dropDatabases(url: string, template: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  // Waits for the clone that a worker may just have begun.
  await client.query(`drop database if exists ${template} with (force)`)
  // Clones are named after their template.
  const { rows } = await client.query<{ datname: string }>(
    'select datname from pg_database where datname like $1',
    [`${template}%`],
  )
  for (const { datname } of rows) await client.query(`drop database if exists ${datname} with (force)`)
  await client.end()
}

async function execute(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(statement)
  await client.end()
}

function withDatabase(url: string, name: string): string {
  const changed = new URL(url)
  changed.pathname = `/${name}`
  return changed.href
}
