import { readdirSync, readFileSync } from 'node:fs'

/** Linux counts in hundredths of a second in /proc (`getconf CLK_TCK`). */
const msPerTick = 10

/** The processor time of a process until now, user and system, in milliseconds. */
export interface ProcessTimes {
  parentPid: number
  /** Of all its threads. */
  ownMs: number
  /** Of its child processes that have ended. */
  endedChildrenMs: number
}

/** Reads a line of /proc/PID/stat (proc_pid_stat(5)). The name of the process can contain spaces and parentheses. */
export function parseProcessStat(line: string): ProcessTimes {
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ')
  // The first of them is the third in the manual.
  const field = (place: number) => {
    const value = Number(fields[place - 3])
    if (Number.isNaN(value)) throw new Error(`not a line of /proc/PID/stat: ${line}`)
    return value
  }
  return {
    parentPid: field(4),
    ownMs: (field(14) + field(15)) * msPerTick,
    endedChildrenMs: (field(16) + field(17)) * msPerTick,
  }
}

/** Reads the times of a process. Throws when it does not exist. */
export const readProcess = (pid: number): ProcessTimes =>
  parseProcessStat(readFileSync(`/proc/${pid}/stat`, 'utf8'))

/** The processor time of a process and of its child processes, including those that have ended, in milliseconds. */
export function readFamilyMs(pid: number): number {
  const { ownMs, endedChildrenMs } = readProcess(pid)
  let ms = ownMs + endedChildrenMs
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      const child = readProcess(Number(name))
      if (child.parentPid === pid) ms += child.ownMs
    } catch (error) {
      // It ended meanwhile. ESRCH: between opening and reading the file.
      if (!['ENOENT', 'ESRCH'].includes(String((error as NodeJS.ErrnoException).code))) throw error
    }
  }
  return ms
}
