import { once } from 'node:events'
import { mkdir, readFile, rm } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { conclude, summarize, type Fault } from '../fault.ts'
import { createClient, underLoad, type Attempt } from '../load.ts'
import { executeAsServer, giveAway } from '../parts/postgres.ts'
import { execute, findPort, until, type Scope } from '../parts/processes.ts'
import { makeScratch, root, type ReplicaOptions, type Stage } from '../stage.ts'

/** The lines of a block in a section of docs/operations.md, as they stand there. */
async function readBlock(section: string, block: '```sh' | '```ini', number = 1): Promise<string[]> {
  const text = await readFile(join(root, 'docs/operations.md'), 'utf8')
  const found = text
    .split(new RegExp(`\n###? ${section}\n`))[1]
    ?.split(`${block}\n`)
    [number]?.split('```')[0]
  if (found === undefined) throw new Error(`docs/operations.md has nothing in ${block} under ${section}`)
  return found.trim().split('\n')
}

const readCommands = (section: string) => readBlock(section, '```sh')

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
  stage: { binaries: 'debian' },
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

/** Starts a copy, in which what waits may run at once, and tells whether anything was sent. */
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
  const isDue = "task_identifier like 'send_%' or run_at <= now()"
  const count = ['--tuples-only', '--command', `select count(*) from graphile_worker.jobs where ${isDue}`]
  await until(
    async () => Number(await execute('psql', [String(replica.environment?.DATABASE_URL), ...count])) === 0,
    'the end of the jobs',
  )
  // Deliveries are looked for once a second.
  await pause(2_000)
  return { copy, hasSent: stage.mail.connections() > mails || countCalls() > calls }
}

const restoredCopy: Fault = {
  name: 'restored-copy',
  does: 'a copy from a dump with mails and deliveries that wait, by the commands under "Staging from a backup" in docs/operations.md',
  goal: 'the copy sends nothing, before and after; what is new in it is sent once OUTGOING is on',
  isInCi: true,
  needs: ['pg_dump'],
  stage: { binaries: 'debian' },
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
    const report = await underLoad(stage, () => pause(2_000), { beforeMs: 0, afterMs: 0 })
    await execute('sh', ['-c', 'pg_dump --format=custom --file=workspace.dump "$DATABASE_URL"'], {
      environment: { DATABASE_URL: stage.postgres.url },
      workingDirectory: stage.folder,
    })
    await Promise.all(stage.replicas.map((replica) => replica.stop()))
    delete stage.mail.mood.answers

    await execute('psql', [stage.postgres.url, '-c', 'create database copy'])
    const url = Object.assign(new URL(stage.postgres.url), { pathname: '/copy' }).href
    const port = await findPort()
    const own = {
      DATABASE_URL: url,
      DATA_DIR: join(stage.folder, 'copy'),
      BASE_URL: `http://127.0.0.1:${port}`,
      SHUTDOWN_DELAY_SECONDS: '0',
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
    await Promise.all([on.copy.stop(), ...stage.replicas.map((replica) => replica.start())])
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

let archive: string

/** PostgreSQL's settings for archiving, as the documentation has them. */
async function findArchiveSettings(scope: Scope): Promise<Record<string, string>> {
  const folder = await makeScratch(scope)
  archive = join(folder, 'archive')
  await mkdir(archive)
  await giveAway(archive)
  const lines = await readBlock('Recovery to a point in time', '```ini')
  return Object.fromEntries(
    lines.map((line) => {
      const [name = '', value = ''] = line.split(/ = (.*)/)
      return [name, value.replace(/^'(.*)'$/, '$1').replaceAll('/archive', archive)]
    }),
  )
}

const pointInTime: Fault = {
  name: 'point-in-time',
  does:
    'everything of PostgreSQL is lost, and comes back by the commands under "Recovery to a point in time" in ' +
    'docs/operations.md, as it was before a load',
  goal: 'every command succeeds; everybody sees what they saw at that time; `admin check --restored` finds the cursors right',
  needs: ['pg_dump'],
  stage: async (scope) => ({ binaries: 'debian', settings: await findArchiveSettings(scope) }),
  async run(stage) {
    const { postgres, folder, replicas } = stage
    const workingDirectory = join(folder, 'recovery')
    await mkdir(workingDirectory)
    await giveAway(workingDirectory)
    const run = (lines: readonly string[], values: Record<string, string> = {}) =>
      executeAsServer('sh', ['-ec', lines.join('\n')], {
        environment: { DATABASE_URL: postgres.url, PGDATA: postgres.folder, ARCHIVE: archive, ...values },
        workingDirectory,
      })
    const copied = await readBlock('Recovery to a point in time', '```sh', 1)
    const restored = await readBlock('Recovery to a point in time', '```sh', 2)
    const before = await underLoad(stage, async () => {
      await run(copied)
    })
    const seen = await look(stage)
    const [row] = await postgres.query<{ time: string }>('select now()::text as time')
    const after = await underLoad(stage, () => pause(2_000), { beforeMs: 1_000 })
    const seenLater = await look(stage)
    const [wal] = await postgres.query<{ name: string }>('select pg_walfile_name(pg_switch_wal()) as name')
    const countArchived = async () =>
      (await postgres.query('select 1 from pg_stat_archiver where last_archived_wal >= $1', [wal?.name]))
        .length
    await until(async () => (await countArchived()) > 0, 'the archive')
    await Promise.all(replicas.map((replica) => replica.stop()))
    await postgres.crash()
    await rm(postgres.folder, { recursive: true })
    const startedAt = performance.now()
    await run(restored, { TIME: row?.time ?? '' })
    await postgres.start()
    const isRecovering = async () =>
      (await postgres.query('select 1 where pg_is_in_recovery()').catch(() => [1])).length > 0
    await until(async () => !(await isRecovering()), 'the end of the recovery')
    const recoveryMs = Math.round(performance.now() - startedAt)
    const check = [join(root, 'dist/cli/admin.js'), 'check', '--restored', '--json']
    const checked = await execute('sh', ['-c', '"$0" "$@" || true', process.execPath, ...check], {
      environment: stage.environment,
    })
    await Promise.all(replicas.map((replica) => replica.start()))
    await until(async () => (await fetch(`${stage.origin}/ready`)).ok, 'HAProxy to find a replica')
    const seenAgain = await look(stage)
    return {
      ...conclude([
        seenLater === seen && 'nothing was changed after the time',
        seenAgain !== seen && 'what is seen differs from that time',
        before.failures.length + after.failures.length > 0 && 'requests failed',
        !checked.includes('"check":"cursors","ok":true') && `the check said: ${checked.slice(0, 300)}`,
      ]),
      requests: before.attempts.length + after.attempts.length,
      failed: before.failures.length + after.failures.length,
      lost: (await before.ledger.verify(postgres)).lost,
      recoveryMs,
    }
  },
}

/** Copies of all data, and what comes back by them. */
export const backupFaults: Fault[] = [backup, restoredCopy, pointInTime]
