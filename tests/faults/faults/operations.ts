import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { conclude, judge, Skipped, summarize, type Fault } from '../fault.ts'
import { createClient, insist, underLoad, type Attempt } from '../load.ts'
import { hasDebianPostgres } from '../parts/postgres.ts'
import { execute, findPort, until, type Scope } from '../parts/processes.ts'
import { startPgbouncer } from '../parts/proxies.ts'
import { makeScratch, root, type ReplicaOptions, type Stage } from '../stage.ts'

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

/** The commands of a section of docs/operations.md, as they stand there. */
async function readCommands(section: string): Promise<string[]> {
  const text = await readFile(join(root, 'docs/operations.md'), 'utf8')
  const block = text.split(`\n## ${section}\n`)[1]?.split('```sh\n')[1]?.split('```')[0]
  if (block === undefined) throw new Error(`docs/operations.md has no commands under ${section}`)
  return block.trim().split('\n')
}

/** What somebody sees of their workspace. */
async function look(stage: Stage): Promise<string> {
  const client = createClient(stage.origin, 2)
  const seen: Attempt[] = []
  for (const { slug, apiKey } of stage.callers)
    for (const list of ['seeds', 'teams', 'invites', 'members', 'events'])
      seen.push(
        await client.send({ operation: list, path: `/v1/workspaces/${slug}/${list}?limit=100`, apiKey }),
      )
  client.close()
  const failed = seen.filter(({ status }) => status !== 200)
  if (failed.length > 0) throw new Error(`the workspace cannot be read: ${summarize(failed)}`)
  return seen.map(({ body }) => body).join('\n')
}

const backup: Fault = {
  name: 'backup-restore',
  does: 'the commands under "Backup" in docs/operations.md, word for word, with a load in between',
  goal: 'every command succeeds; everybody sees what they saw at the time of the dump',
  needs: ['pg_dump'],
  async stage() {
    if (!hasDebianPostgres) throw new Skipped("Debian's postgresql-15 is not installed")
    return { binaries: 'debian' }
  },
  async run(stage) {
    const [dump, restore, ...rest] = await readCommands('Backup')
    if (!dump?.startsWith('pg_dump') || !restore?.startsWith('pg_restore') || rest.length > 0)
      throw new Error('docs/operations.md has other commands than a dump and a restore')
    const environment = { DATABASE_URL: stage.postgres.url }
    const run = (command: string) =>
      execute('sh', ['-c', command], { environment, workingDirectory: stage.folder })
    const before = await underLoad(stage, () => pause(2_000))
    const seen = await look(stage)
    await run(dump)
    const after = await underLoad(stage, () => pause(2_000))
    const seenLater = await look(stage)
    for (const replica of stage.replicas) await replica.stop()
    await run(restore)
    for (const replica of stage.replicas) await replica.start()
    await pause(1_500)
    const seenAgain = await look(stage)
    return {
      ...conclude([
        seenLater === seen && 'nothing was changed in between',
        seenAgain !== seen && 'what is seen differs from the time of the dump',
        before.failures.length + after.failures.length > 0 && 'requests failed',
      ]),
      requests: before.attempts.length + after.attempts.length,
      failed: before.failures.length + after.failures.length,
      lost: (await before.ledger.verify(stage.postgres)).lost,
    }
  },
}

/** Starts a copy, in which what waits may run at once for some seconds, and tells whether anything was sent. */
async function startCopy(stage: Stage, replica: ReplicaOptions, countCalls: () => number) {
  const [mails, calls] = [stage.mail.connections(), countCalls()]
  const copy = await stage.addReplica(replica)
  const hourly = `array['enqueue_digests', 'enqueue_accepted_invites']`
  await execute('psql', [
    String(replica.environment?.DATABASE_URL),
    ...['-c', `select graphile_worker.add_job(task, '{}'::json) from unnest(${hourly}) as task`],
    '-c',
    'select graphile_worker.reschedule_jobs(array(select id from graphile_worker.jobs), run_at => now())',
  ])
  await pause(6_000)
  return { copy, hasSent: stage.mail.connections() > mails || countCalls() > calls }
}

const restoredCopy: Fault = {
  name: 'restored-copy',
  does: 'a copy from a dump with mails and deliveries that wait, by the commands under "Staging from a backup" in docs/operations.md',
  goal: 'the copy sends nothing, before and after; what is new in it is sent once OUTGOING is on',
  needs: ['pg_dump'],
  async stage() {
    if (!hasDebianPostgres) throw new Skipped("Debian's postgresql-15 is not installed")
    return { binaries: 'debian', environment: { WEBHOOK_ALLOWED_HOSTS: '127.0.0.1' } }
  },
  async run(stage) {
    let calls = 0
    const receiver = createServer((socket) => {
      calls += 1
      socket.destroy()
    }).listen(0, '127.0.0.1')
    stage.scope.defer(() => receiver.close())
    await once(receiver, 'listening')
    const { port: hookPort } = receiver.address() as AddressInfo
    const [caller] = stage.callers
    if (!caller) throw new Error('nobody calls')
    const request = async (origin: string, apiKey: string, path: string, body?: object) =>
      fetch(origin + path, {
        method: body ? 'POST' : 'GET',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      })
    // Mails wait, and deliveries, of which the first attempts fail.
    stage.mail.mood.answers = 451
    const hook = { url: `https://127.0.0.1:${hookPort}/hook` }
    await request(stage.origin, caller.apiKey, `/v1/workspaces/${caller.slug}/webhooks`, hook)
    const report = await underLoad(stage, () => pause(2_000))
    await execute('sh', ['-c', 'pg_dump --format=custom --file=workspace.dump "$DATABASE_URL"'], {
      environment: { DATABASE_URL: stage.postgres.url },
      workingDirectory: stage.folder,
    })
    for (const replica of stage.replicas) await replica.stop()
    delete stage.mail.mood.answers

    await execute('psql', [stage.postgres.url, '-c', 'create database copy'])
    const url = Object.assign(new URL(stage.postgres.url), { pathname: '/copy' }).href
    const port = await findPort()
    const own = {
      DATABASE_URL: url,
      DATA_DIR: join(stage.folder, 'copy'),
      BASE_URL: `http://127.0.0.1:${port}`,
    }
    const environment = { ...stage.environment, ...own, OUTGOING: 'off' }
    const program = join(root, 'dist/cli/admin.js')
    const admin = (...args: string[]) => execute(process.execPath, [program, ...args], { environment })
    // The check has more to say than what is looked for here.
    const attempt = (...args: string[]) =>
      execute('sh', ['-c', '"$0" "$@" || true', process.execPath, program, ...args], { environment })
    const [restore, check, quarantine, link, ...rest] = await readCommands('Staging from a backup')
    const words = [check, quarantine, link].map((command) => command?.split(' ').slice(4) ?? [])
    if (!restore?.startsWith('pg_restore') || words.some(([first]) => first === undefined) || rest.length > 0)
      throw new Error('docs/operations.md has other commands than those of a copy')
    await execute('sh', ['-c', restore], { environment, workingDirectory: stage.folder })
    const off = await startCopy(stage, { port, environment: { ...own, OUTGOING: 'off' } }, () => calls)
    const [checkArgs = [], quarantineArgs = [], linkArgs = []] = words
    const seen = await attempt(...checkArgs, '--json')
    const done = await admin(...quarantineArgs, '--json')
    const dropped = JSON.parse(done) as { deliveries: number; keys: number }
    const refused = await request(off.copy.origin, caller.apiKey, '/v1/me')
    const printed = await admin(...linkArgs.slice(0, -1), caller.email)
    await off.copy.stop()
    const on = await startCopy(stage, { port, environment: own }, () => calls)
    // What is new is sent.
    const made = await admin('create-key', '--email', caller.email, '--name', 'New', '--json')
    const apiKey = /wsk_\w{20,}/.exec(made)?.[0] ?? ''
    const body = { email: 'new@example.com', role: 'member' }
    await request(on.copy.origin, apiKey, `/v1/workspaces/${caller.slug}/invites`, body)
    await until(() => stage.mail.taken.has('new@example.com'), 'the mail of a new invite')
    const callsBefore = calls
    await request(on.copy.origin, apiKey, `/v1/workspaces/${caller.slug}/teams`, { name: 'New' })
    await until(() => calls > callsBefore, 'the delivery of a new event')
    return {
      ...conclude(
        [
          report.ledger.invited().length === 0 && 'no mail waited',
          off.hasSent && 'the copy sent something with OUTGOING=off',
          !seen.includes('"check":"cursors","ok":true') &&
            `the check found the copy wrong: ${seen.slice(0, 300)}`,
          dropped.deliveries === 0 && 'no delivery waited',
          dropped.keys === 0 && 'no key was ended',
          refused.status !== 401 && `a key of the original is answered with ${refused.status}`,
          !printed.includes('/sign-in/link/') && 'no link was printed',
          on.hasSent && 'the copy sent what it had dropped',
        ],
        `${dropped.deliveries} deliveries and ${report.ledger.invited().length} invites waited`,
      ),
      requests: report.attempts.length,
    }
  },
}

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
    await execute('sh', ['-c', 'git -C "$0" archive "$1" | tar -x -C "$2"', root, commit, folder])
    await execute('ln', ['-s', join(root, 'node_modules'), join(folder, 'node_modules')])
    await execute(process.execPath, [join(folder, 'scripts/build.cjs')])
    former = { folder, commit }
    return join(folder, 'dist/server.js')
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
    'APP_SECRET is replaced by three rolling restarts, as docs/operations.md has it; then the password of PostgreSQL in ' +
    'its file, and every connection is terminated',
  goal: 'by the restarts nothing fails, and nothing is left under the former secret; ready again within 5 s after the password',
  async run(stage) {
    const { environment, folder, postgres, replicas, callers } = stage
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
    let resealed = ''
    const rotation = await underLoad(stage, async () => {
      await restartWith({ APP_SECRET: former, APP_SECRET_PREVIOUS: next })
      await restartWith({ APP_SECRET: next, APP_SECRET_PREVIOUS: former })
      resealed = await admin('reseal', '--json')
      await restartWith({ APP_SECRET: next, APP_SECRET_PREVIOUS: '' })
    })
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
      await pause(5_000)
    })
    const after = judge(password, { answerMsMax: 7_000, recoveryMsMax: 5_000 })
    return {
      ...outcome,
      ...{ misses: [...outcome.misses, ...after.misses], notes: [...outcome.notes, ...after.notes] },
      requests: (outcome.requests ?? 0) + (after.requests ?? 0),
      failed: (outcome.failed ?? 0) + (after.failed ?? 0),
      ...(after.recoveryMs !== undefined && { recoveryMs: after.recoveryMs }),
    }
  },
}

export const operationsFaults: Fault[] = [
  pgbouncer('session'),
  pgbouncer('transaction'),
  backup,
  restoredCopy,
  upgrade,
  secrets,
]
