import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

/** A process of ours. */
export interface Running {
  pid: number
  /** Where its output is. */
  log: string
  isRunning: () => boolean
  ended: Promise<unknown>
  /** Sends a signal, if it still runs. */
  signal: (name: NodeJS.Signals) => void
  /** Stops it with everything below it (SIGSTOP), as a machine that hangs. */
  freeze: () => Promise<void>
  thaw: () => Promise<void>
  /** Ends it with everything below it (SIGKILL), frozen or not. */
  kill: () => Promise<void>
}

export interface LaunchOptions {
  log: string
  environment?: Record<string, string>
  workingDirectory?: string
  /** Further options of setpriv(1), such as the account. */
  privileges?: readonly string[]
}

// Linux kills what we started when we are killed ourselves.
const hasSetpriv = spawnSync('setpriv', ['--pdeathsig', 'KILL', 'true']).status === 0

/** Starts a program in a group of its own, so that Ctrl-C reaches us alone. */
export function launch(file: string, args: readonly string[], options: LaunchOptions): Running {
  const { log, environment = {}, workingDirectory = '/tmp', privileges = [] } = options
  const { PATH, HOME } = process.env
  const [command, ...rest] = hasSetpriv
    ? (['setpriv', '--pdeathsig', 'KILL', ...privileges, '--', file, ...args] as const)
    : ([file, ...args] as const)
  const child = spawn(command, rest, {
    cwd: workingDirectory,
    env: { PATH, HOME, LC_ALL: 'C', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  // There may be no room for it.
  const output = createWriteStream(log, { flags: 'a' }).on('error', () => undefined)
  child.stdout.pipe(output, { end: false })
  child.stderr.pipe(output, { end: false })
  const { pid } = child
  child.once('error', () => undefined)
  if (pid === undefined) throw new Error(`${file} cannot be started`)
  const ended = once(child, 'exit').then(() => output.end())
  const isRunning = () => child.exitCode === null && child.signalCode === null
  const signalAll = async (name: NodeJS.Signals) => {
    if (!isRunning()) return
    for (const one of [pid, ...(await findDescendants(pid))]) signalOne(one, name)
  }
  return {
    pid,
    log,
    isRunning,
    ended,
    signal: (name) => {
      if (isRunning()) signalOne(pid, name)
    },
    freeze: () => signalAll('SIGSTOP'),
    thaw: () => signalAll('SIGCONT'),
    async kill() {
      const below = await findDescendants(pid)
      await signalAll('SIGKILL')
      await ended
      await until(async () => !(await anyRuns(below)), 'the processes below it to end')
    },
  }
}

function signalOne(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // It has ended since.
  }
}

/** The processes below one, children first. */
export async function findDescendants(pid: number): Promise<number[]> {
  const parents = new Map<number, number>()
  for (const name of (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry))) {
    // The name, in brackets, may have spaces in it.
    const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '')
    parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]))
  }
  const below = (parent: number): number[] => {
    const children = [...parents].filter(([, of]) => of === parent).map(([child]) => child)
    return [...children, ...children.flatMap(below)]
  }
  return below(pid)
}

async function anyRuns(pids: readonly number[]): Promise<boolean> {
  for (const pid of pids) {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ') Z')
    if (!stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z')) return true
  }
  return false
}

/** What a process holds: memory in MiB, and open files, sockets among them. */
export async function measureProcess(pid: number): Promise<{ memoryMiB: number; handles: number }> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  const handles = (await readdir(`/proc/${pid}/fd`)).length
  return { memoryMiB: Math.round(Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024), handles }
}

export interface ExecuteOptions {
  environment?: Record<string, string>
  workingDirectory?: string
}

/** Runs a program to its end; fails with what it said. */
export async function execute(
  file: string,
  args: readonly string[],
  options: ExecuteOptions = {},
): Promise<string> {
  const child = spawn(file, args, {
    cwd: options.workingDirectory,
    env: { ...process.env, ...options.environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new Error(`${file} ${args.join(' ')} failed with ${code}: ${text.slice(-500)}`)
  return text
}

/** Waits for what nothing announces. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  what: string,
  limitMs = 30_000,
): Promise<void> {
  for (const deadline = Date.now() + limitMs; !(await condition());) {
    if (Date.now() > deadline) throw new Error(`waited ${limitMs} ms in vain for ${what}`)
    await pause(20)
  }
}

/** A loopback port on which nothing listens, outside the range that systems give out by themselves. */
export async function findPort(): Promise<number> {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 20_000)
    const server = createServer().listen(port, '127.0.0.1')
    const isFree = await once(server, 'listening').then(
      () => (server.address() as AddressInfo).port === port,
      () => false,
    )
    server.close()
    if (isFree && !given.has(port)) {
      given.add(port)
      return port
    }
  }
}

const given = new Set<number>()

/** What has to be undone at the end, the last first. */
export interface Scope {
  defer: (undo: () => unknown) => void
  close: () => Promise<void>
}

export function createScope(): Scope {
  const undone: (() => unknown)[] = []
  let isClosed = false
  const scope: Scope = {
    defer(undo) {
      undone.push(undo)
      // What was begun before the end, and is there only now.
      if (isClosed) void scope.close()
    },
    async close() {
      isClosed = true
      for (let undo = undone.pop(); undo; undo = undone.pop()) {
        try {
          await undo()
        } catch (error) {
          console.error(error)
        }
      }
    },
  }
  return scope
}
