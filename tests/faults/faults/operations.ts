import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { combine, judge, Skipped, type Fault } from '../fault.ts'
import { createClient, insist, underLoad } from '../load.ts'
import { buildCommit } from '../../../scripts/build-commit.ts'
import { execute, type Scope } from '../parts/processes.ts'
import { startPgbouncer } from '../parts/proxies.ts'
import { restartInTurns } from './processes.ts'
import { makeScratch, root, type Stage } from '../stage.ts'

const pgbouncer = (mode: 'session' | 'transaction'): Fault => ({
  name: `pgbouncer-${mode}`,
  does: `PgBouncer in ${mode} mode between the service and PostgreSQL`,
  goal: 'nothing fails, mails are sent',
  needs: ['pgbouncer'],
  stage: {
    databaseUrlOf: async (scope, postgres, folder) =>
      (await startPgbouncer(scope, folder, postgres, mode)).url,
    hasTransactionPooler: mode === 'transaction',
  },
  async run(stage) {
    const report = await underLoad(stage, () => pause(8_000))
    const outcome = judge(report, { allSucceed: true })
    const sent = report.ledger.invited().filter((address) => stage.mail.taken.has(address)).length
    const all = report.ledger.invited().length
    if (sent < all) outcome.misses.push(`${sent} of ${all} mails were sent`)
    outcome.notes.push((await execute('pgbouncer', ['--version'])).split('\n')[0] ?? '')
    return outcome
  },
})

let former: { folder: string; commit: string }

/** Builds the sources of the last release without the last migration: what may run beside the present version. */
async function buildFormer(scope: Scope): Promise<string> {
  const folder = await makeScratch(scope)
  const git = async (...args: string[]) => (await execute('git', ['-C', root, ...args])).trim()
  try {
    const added = 'log -1 --no-renames --diff-filter=A --format=%H -- drizzle/*.sql'
    const migration = await git(...added.split(' '))
    // A release is a commit that changes the version.
    const commit = await git(
      'log',
      '-1',
      '--format=%H',
      '-G^  "version":',
      `${migration}~1`,
      '--',
      'package.json',
    )
    const server = buildCommit(commit, folder)
    former = { folder, commit }
    return server
  } catch (error) {
    throw new Skipped(`the former version cannot be built here: ${String(error).slice(0, 200)}`)
  }
}

const upgrade: Fault = {
  name: 'upgrade-rollback',
  does: 'from the last release before the last migration to this version and back, as docs/operations.md has it, under load',
  goal: 'nothing fails, nothing is lost',
  async stage(scope) {
    const server = await buildFormer(scope)
    return { isEmpty: true, replicaOf: () => ({ server }) }
  },
  async run(stage) {
    const { replicas, environment } = stage
    const [first] = replicas
    const older = first?.server ?? ''
    for (const replica of replicas) await replica.start()
    const admin = (folder: string, ...args: string[]) =>
      execute(process.execPath, [join(folder, 'dist/cli/admin.js'), ...args], { environment })
    for (const name of ['ada', 'grace', 'joan']) stage.callers.push(await createCaller(stage, name, admin))
    await pause(1_500)
    const replaceAll = async (server: string) => {
      for (const replica of replicas) {
        await replica.stop()
        replica.server = server
        await replica.start()
        await pause(1_500)
      }
    }
    const report = await underLoad(stage, async () => {
      await admin(root, 'migrate')
      await replaceAll(join(root, 'dist/server.js'))
      await replaceAll(older)
    })
    return judge(report, { allSucceed: true }, `the former version is ${former.commit.slice(0, 7)}`)
  },
}

async function createCaller(
  { origin }: Stage,
  name: string,
  admin: (folder: string, ...args: string[]) => Promise<string>,
) {
  const email = `${name}@example.com`
  await admin(former.folder, 'create-user', '--email', email, '--name', name, '--verified')
  const made = await admin(former.folder, 'create-key', '--email', email, '--name', 'Load', '--json')
  const apiKey = /wsk_\w{20,}/.exec(made)?.[0] ?? ''
  const slug = `w-${name}`
  const answer = await fetch(`${origin}/v1/workspaces`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name, slug }),
  })
  if (!answer.ok) throw new Error(`no workspace: ${await answer.text()}`)
  const { workspace } = (await answer.json()) as { workspace: { id: string } }
  return { email, password: '', userId: '', apiKey, slug, workspaceId: workspace.id }
}

const secrets: Fault = {
  name: 'secret-rotated',
  does:
    'APP_SECRET is replaced by three rolling restarts, as docs/operations.md has it, the first as in `rolling-restart`; ' +
    'then the password of PostgreSQL in its file, and every connection is terminated',
  goal: 'by the restarts nothing fails, and nothing is left under the former secret; ready again within 5 s after the password',
  isInCi: true,
  async run(stage, { isShort }) {
    const { environment, folder, postgres, callers } = stage
    const replicas = isShort ? stage.replicas.slice(0, 2) : stage.replicas
    for (const left of stage.replicas.slice(replicas.length)) await left.stop()
    const admin = (...args: string[]) =>
      execute(process.execPath, [join(root, 'dist/cli/admin.js'), ...args], { environment })
    const file = join(folder, 'database-url')
    await postgres.query(`create role app login superuser password 'former'`)
    const setPassword = (password: string) =>
      writeFile(file, Object.assign(new URL(postgres.url), { username: 'app', password }).href)
    await setPassword('former')
    Object.assign(environment, { DATABASE_URL: '', DATABASE_URL_FILE: file })
    const client = createClient(stage.origin, 2)
    for (const { slug, apiKey } of callers)
      await insist(client, {
        ...{ operation: 'webhook +', method: 'POST', path: `/v1/workspaces/${slug}/webhooks`, apiKey },
        // Sealed under the secret. Nothing is delivered: the type is of nobody here.
        body: JSON.stringify({ url: 'https://receiver.invalid/', types: ['team.deleted'] }),
      })
    client.close()
    const former = environment.APP_SECRET ?? ''
    const next = 'the next secret of the replicas of this run'
    const restartWith = async (values: Record<string, string>) => {
      Object.assign(environment, values)
      for (const replica of replicas) {
        await replica.stop()
        await replica.start()
        // HAProxy has to find it.
        await pause(1_500)
      }
    }
    let missed: string[] = []
    let resealed = ''
    const rotate = async () => {
      Object.assign(environment, { APP_SECRET: former, APP_SECRET_PREVIOUS: next })
      missed = await restartInTurns(stage, replicas)
      await restartWith({ APP_SECRET: next, APP_SECRET_PREVIOUS: former })
      resealed = await admin('reseal', '--json')
      await restartWith({ APP_SECRET: next, APP_SECRET_PREVIOUS: '' })
    }
    const rotation = await underLoad(stage, rotate, { afterMs: 1_000 })
    const outcome = judge(rotation, { allSucceed: true })
    const { kinds } = JSON.parse(resealed) as { kinds: Record<'resealed' | 'left' | 'unreadable', number>[] }
    const sum = (name: 'resealed' | 'left' | 'unreadable') => kinds.reduce((all, kind) => all + kind[name], 0)
    outcome.notes.push(`${sum('resealed')} values were encrypted again`)
    if (sum('resealed') < callers.length || sum('left') + sum('unreadable') > 0)
      outcome.misses.push(`admin reseal said ${resealed}`)
    const password = await underLoad(stage, async (load) => {
      await postgres.query(`alter role app password 'next'`)
      await setPassword('next')
      await postgres.query(`select pg_terminate_backend(pid) from pg_stat_activity where usename = 'app'`)
      load.isOver()
    })
    const after = judge(password, { answerMsMax: 7_000, recoveryMsMax: 5_000 })
    outcome.misses.push(...missed)
    return combine([outcome, after])
  },
}

export const operationsFaults: Fault[] = [pgbouncer('session'), pgbouncer('transaction'), upgrade, secrets]
