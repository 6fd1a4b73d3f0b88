import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Skipped } from '../fault.ts'
import type { Scope } from './processes.ts'

/** A control group of Linux (cgroups(7)) that limits memory as the limit of a container does. */
export interface MemoryGroup {
  /** Starts a program in it. */
  wrapper: readonly string[]
  /** For what starts from now on. */
  limit: (mebibytes: number) => Promise<void>
  /** The most that was in use since the start, files that are kept in memory among it. */
  readPeakMiB: () => Promise<number>
  /** How many processes the kernel has killed for want of memory. */
  countKills: () => Promise<number>
}

// Version 2, and 1 where it is mounted.
const versions = [
  {
    parent: '/sys/fs/cgroup',
    ...{ limit: 'memory.max', swap: 'memory.swap.max', peak: 'memory.peak', kills: 'memory.events' },
  },
  {
    parent: '/sys/fs/cgroup/memory',
    ...{ limit: 'memory.limit_in_bytes', swap: 'memory.memsw.limit_in_bytes' },
    ...{ peak: 'memory.max_usage_in_bytes', kills: 'memory.oom_control' },
  },
]

let count = 0

/** Makes a group, which root may. */
export async function createMemoryGroup(scope: Scope): Promise<MemoryGroup> {
  for (const { parent, ...files } of versions) {
    const folder = join(parent, `workspace-faults-${process.pid}-${(count += 1)}`)
    const read = (file: string) => readFile(join(folder, file), 'utf8')
    const isMade = await mkdir(folder).then(
      () => true,
      () => false,
    )
    if (!isMade) continue
    scope.defer(() => rmdir(folder))
    const hasLimit = await read(files.limit).then(
      () => true,
      () => false,
    )
    if (!hasLimit) continue
    return {
      wrapper: ['sh', '-c', 'echo $$ >"$0/cgroup.procs" && exec "$@"', folder],
      async limit(mebibytes) {
        const bytes = String(mebibytes * 1_048_576)
        await writeFile(join(folder, files.limit), bytes)
        // Where swap is counted at all.
        await writeFile(join(folder, files.swap), files.swap === 'memory.swap.max' ? '0' : bytes).catch(
          () => undefined,
        )
      },
      readPeakMiB: async () => Math.round(Number(await read(files.peak)) / 1_048_576),
      countKills: async () => Number(/^oom_kill (\d+)/m.exec(await read(files.kills))?.[1]),
    }
  }
  throw new Skipped('making a control group of memory is not permitted here')
}
