import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parseProcessStat, readFamilyMs } from '../../bench/processor-time.ts'

// Read too few spaces further, the fields are other numbers, and the benchmarks report them without a failure.
test('processor times are read after the name of the process, which can contain spaces and parentheses', () => {
  const line =
    '4711 (postgres: bench) 1 small (x) S 42 4711 4711 0 -1 4194560 900 11 0 0 123 45 67 8 20 0 1 0 500 225 30'
  expect(parseProcessStat(line)).toEqual({ parentPid: 42, ownMs: 1680, endedChildrenMs: 750 })
  expect(() => parseProcessStat('4711 (postgres) S 42')).toThrow('not a line')
})

test.skipIf(process.platform !== 'linux')(
  'the processor time of this process is what Node.js reports',
  () => {
    const before = process.cpuUsage()
    const { ownMs } = parseProcessStat(readFileSync('/proc/self/stat', 'utf8'))
    const after = process.cpuUsage()
    const msOf = ({ user, system }: NodeJS.CpuUsage) => (user + system) / 1000
    // The kernel rounds user and system down to hundredths of a second.
    expect(ownMs).toBeGreaterThanOrEqual(msOf(before) - 20)
    expect(ownMs).toBeLessThanOrEqual(msOf(after))
    expect(readFamilyMs(process.pid)).toBeGreaterThanOrEqual(ownMs)
  },
)
