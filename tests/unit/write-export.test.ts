import { chmod, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { writeExport } from '../../src/cli/write-export.ts'
import { makeFolder } from '../support/uploads.ts'

it.each(['a new file', 'a file that others could read'])('writes %s for its owner alone', async (which) => {
  const file = join(await makeFolder(), 'export.json')
  if (which !== 'a new file') {
    await writeFile(file, 'a longer text of before')
    await chmod(file, 0o644)
  }
  async function* chunks() {
    yield 'one '
    yield 'two'
  }
  await writeExport({ json: true }, chunks(), file)
  expect(await readFile(file, 'utf8')).toBe('one two')
  expect((await stat(file)).mode & 0o777).toBe(0o600)
})

it.each([
  ['EPIPE', 'ends'],
  ['EIO', 'fails'],
])('when standard output fails with %s, it %s', async (code, outcome) => {
  const failure = Object.assign(new Error(code), { code })
  const write = vi.spyOn(process.stdout, 'write').mockImplementation(() => {
    setImmediate(() => process.stdout.emit('error', failure))
    return false
  })
  onTestFinished(() => write.mockRestore())
  async function* chunks() {
    yield 'one'
  }
  const writing = writeExport({ json: true }, chunks(), undefined)
  if (outcome === 'ends') await writing
  else await expect(writing).rejects.toBe(failure)
  expect(write).toHaveBeenCalledOnce()
})
