import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chown, mkdtemp, readFile, readdir, rename, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { inject, onTestFinished } from 'vitest'
import { afterFile } from '../support/after-file.ts'
import { untilTrue } from '../support/eventually.ts'

/** Where the built program is. The commands that run these tests build it first. */
export const root = fileURLToPath(new URL('../..', import.meta.url))
const serverFile = join(root, 'dist/server.js')
const adminFile = join(root, 'dist/cli/admin.js')

/** A program that was started, and what it has said so far. */
export interface Run {
  pid: number
  stdout: () => string
  stderr: () => string
  /** The match of a pattern, as soon as standard output has it. Rejects when the program ends without. */
  said: (pattern: RegExp) => Promise<RegExpExecArray>
  signal: (signal: NodeJS.Signals) => void
  /** Resolves when the program has ended and all that it said is there. */
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
}

// Processes are stopped and directories removed after the test, or after the last test of the file.
const after = { test: onTestFinished, file: afterFile }

type Lifetime = keyof typeof after

export interface RunOptions {
  lifetime?: Lifetime
  environment?: Record<string, string | undefined>
  workingDirectory?: string
  user?: { uid: number; gid: number }
  /** A process group of its own, as a terminal gives it, which one Ctrl-C reaches whole. */
  isGroup?: boolean
}

/** Starts a program in an environment of which nothing is our own but the way to programs. */
export function run(file: string, args: string[], options: RunOptions = {}): Run {
  const { PATH, HOME, TMPDIR } = process.env
  const child = spawn(file, args, {
    cwd: options.workingDirectory ?? tmpdir(),
    env: { PATH, HOME, TMPDIR, ...options.environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: options.isGroup ?? false,
    ...options.user,
  })
  const { pid } = child
  child.once('error', () => undefined)
  if (pid === undefined) throw new Error(`${file} cannot be started`)
  const signal = (name: NodeJS.Signals) => void process.kill(options.isGroup ? -pid : pid, name)
  after[options.lifetime ?? 'test'](() => {
    if (child.exitCode === null && child.signalCode === null) signal('SIGKILL')
  })
  const stdout = collect(child.stdout)
  const stderr = collect(child.stderr)
  const ended = once(child, 'close').then(([code, signal]) => ({
    code: code as number | null,
    signal: signal as NodeJS.Signals | null,
  }))
  return {
    pid,
    stdout,
    stderr,
    ended,
    signal,
    said: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const match = pattern.exec(stdout())
          if (match) resolve(match)
        }
        child.stdout.on('data', look)
        child.once('close', () =>
          reject(new Error(`It ended before it said ${pattern}:\n${stdout()}\n${stderr()}`)),
        )
        look()
      }),
  }
}

function collect(stream: Readable): () => string {
  let text = ''
  stream.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  return () => text
}

/** The service in a process of its own. */
export interface Service extends Run {
  port: number
  baseUrl: string
}

export interface ServiceOptions extends RunOptions {
  /** Where its own database is kept. */
  dataDir?: string
  port?: number
}

/** Starts the service, whether it comes to serve or not. */
export async function launchService({ dataDir, port, ...options }: ServiceOptions): Promise<Service> {
  const number = port ?? (await findPort())
  const environment = { PORT: String(number), DATA_DIR: dataDir, ...options.environment }
  return {
    ...run(process.execPath, [serverFile], { ...options, environment }),
    port: number,
    baseUrl: `http://localhost:${number}`,
  }
}

/** Starts the service and waits until it serves and has said all that it says at first. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const service = await launchService(options)
  const isEmbedded = options.environment?.DATABASE_URL === undefined
  await service.said(isEmbedded ? /Data  +.*\n/ : /Server listening/)
  return service
}

/** Asks the service to stop, and gives its exit code. */
export async function stopService(service: Service): Promise<number | null> {
  service.signal('SIGTERM')
  return (await service.ended).code
}

/** The API key that a first start shows. */
export function keyOf(service: Run): string {
  const [, key] = /Bearer (wsk_\w+)/.exec(service.stdout()) ?? []
  if (key === undefined) throw new Error(`No key in:\n${service.stdout()}\n${service.stderr()}`)
  return key
}

export interface Answer {
  status: number
  body: unknown
}

/** Sends a request over the network. */
export async function call(
  service: Service,
  request: string,
  options: { key?: string; body?: unknown } = {},
): Promise<Answer> {
  const [method = '', path = ''] = request.split(' ')
  const response = await fetch(service.baseUrl + path, {
    method,
    headers: {
      ...(options.key !== undefined && { authorization: `Bearer ${options.key}` }),
      ...(options.body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(options.body !== undefined && { body: JSON.stringify(options.body) }),
  })
  return { status: response.status, body: await response.json() }
}

/** Runs a command of the operators' to its end. */
export async function runAdmin(
  args: string[],
  options: RunOptions & { dataDir?: string } = {},
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const environment = { DATA_DIR: options.dataDir, ...options.environment }
  const admin = run(process.execPath, [adminFile, ...args], { ...options, environment })
  const { code } = await admin.ended
  return { code, stdout: admin.stdout(), stderr: admin.stderr() }
}

/** Makes a directory for one test. Whatever runs on a database in it is ended with the test. */
export async function makeDirectory(
  user?: { uid: number; gid: number },
  lifetime: Lifetime = 'test',
): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'workspace-acceptance-'))
  if (user) await chown(directory, user.uid, user.gid)
  after[lifetime](async () => {
    for (const pid of await findServers(directory)) process.kill(pid, 'SIGKILL')
    await untilNothingRunsIn(directory)
    await rm(directory, { recursive: true, force: true, maxRetries: 10 })
  })
  return directory
}

/** A data directory in which the service has been started and stopped. */
export interface Installation {
  dataDir: string
  /** The API key that the first start printed. */
  key: string
}

/** Copies an installation for one test. Much faster than a first start, for tests of something else. */
export async function copyInstallation(): Promise<Installation> {
  installation ??= install()
  const { dataDir: original, key } = await installation
  const dataDir = join(await makeDirectory(), 'data')
  // `fs.cp` does not keep the owner. When root runs this, the database belongs to another account.
  const copying = await run('cp', ['-Rp', original, dataDir]).ended
  if (copying.code !== 0) throw new Error(`${original} could not be copied`)
  return { dataDir, key }
}

let installation: Promise<Installation> | undefined

async function install(): Promise<Installation> {
  const dataDir = join(await makeDirectory(), 'data')
  const service = await startService({ dataDir })
  const key = keyOf(service)
  await stopService(service)
  await untilNothingRunsIn(dataDir)
  // The directory is removed after this test; later tests copy the installation too.
  const kept = join(inject('scratchDirectory'), `installation-${process.pid}`)
  await rename(dataDir, kept)
  return { dataDir: kept, key }
}

/** The process of the database in a data directory, which its lock file names first. */
export async function databasePid(dataDir: string): Promise<number> {
  const lockFile = await readFile(join(dataDir, 'postgres/postmaster.pid'), 'utf8')
  return Number(lockFile.split('\n')[0])
}

/** How to connect to the running database in a data directory. */
export async function databaseUrl(dataDir: string): Promise<string> {
  const password = await readFile(join(dataDir, 'postgres-password'), 'utf8')
  const lockFile = await readFile(join(dataDir, 'postgres/postmaster.pid'), 'utf8')
  return `postgres://postgres:${password}@127.0.0.1:${lockFile.split('\n')[3]}/postgres`
}

/** The processes whose command line names a place below a directory: those of its database, but for their children. */
export async function findServers(directory: string): Promise<number[]> {
  const found: number[] = []
  for (const [pid, command] of await listProcesses()) {
    if (pid !== process.pid && command.includes(`${directory}/`)) found.push(pid)
  }
  return found
}

async function listProcesses(): Promise<[pid: number, command: string][]> {
  if (process.platform !== 'linux') {
    const ps = run('ps', ['-A', '-o', 'pid=,args='])
    await ps.ended
    return ps
      .stdout()
      .split('\n')
      .map((line) => [Number.parseInt(line), line])
  }
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  return Promise.all(
    pids.map(async (pid): Promise<[number, string]> => {
      // Empty for those that have just ended.
      return [Number(pid), await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')]
    }),
  )
}

/** Waits for the last process of a data directory to be gone: a server gives up its lock file just before it ends. */
export async function untilNothingRunsIn(directory: string): Promise<void> {
  await untilTrue(async () => (await findServers(directory)).length === 0)
}

/** A free loopback port outside the range from which systems give out ports by themselves. */
export async function findPort(): Promise<number> {
  for (;;) {
    const port = 15_000 + Math.floor(Math.random() * 15_000)
    const server = createServer().listen(port, '127.0.0.1')
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    )
    server.close()
    if (isFree) return port
  }
}

/** The account of that name, for tests that root runs as somebody else. */
export async function findUser(name: string): Promise<{ uid: number; gid: number }> {
  const [uid, gid] = await Promise.all(
    ['-u', '-g'].map(async (option) => {
      const id = run('id', [option, name])
      await id.ended
      return Number(id.stdout())
    }),
  )
  if (!uid || !gid) throw new Error(`There is no account ${name}`)
  return { uid, gid }
}

/** Whether an account may run the program where it lies. */
export async function mayRunProgram(user: { uid: number; gid: number }): Promise<boolean> {
  try {
    const { code } = await run(process.execPath, [adminFile, '--version'], { user }).ended
    return code === 0
  } catch {
    return false
  }
}
