import { execFile } from 'node:child_process'
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { AppSecretError, loadAppSecret } from '../../src/platform/app-secret.ts'
import { root, startService, launchService, makeDirectory } from '../acceptance/service.ts'
import { makeFolder } from '../support/uploads.ts'

it('the application secret is created once, with mode 600, and leaves no other file', async () => {
  const folder = join(await makeFolder(), 'data')
  const secret = loadAppSecret(undefined, folder)
  expect(secret).toMatch(/^[\w-]{43}$/)
  expect(loadAppSecret(undefined, folder)).toBe(secret)
  expect(await readdir(folder)).toEqual(['app-secret'])
  expect((await stat(join(folder, 'app-secret'))).mode & 0o777).toBe(0o600)
})

it('the application secret is that of the setting, without a file, if it is set', async () => {
  const folder = await makeFolder()
  expect(loadAppSecret('configured', folder)).toBe('configured')
  expect(await readdir(folder)).toEqual([])
})

it('the application secret is the same for processes that start concurrently', async () => {
  const folder = await makeFolder()
  const module = pathToFileURL(join(root, 'src/platform/app-secret.ts')).href
  const script = `import { loadAppSecret } from ${JSON.stringify(module)}
    console.log(loadAppSecret(undefined, ${JSON.stringify(folder)}))`
  const runs = Array.from({ length: 6 }, () =>
    promisify(execFile)(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
      cwd: root,
    }),
  )
  const secrets = (await Promise.all(runs)).map(({ stdout }) => stdout.trim())
  expect(new Set(secrets)).toEqual(new Set([await readFile(join(folder, 'app-secret'), 'utf8')]))
  expect(await readdir(folder)).toEqual(['app-secret'])
})

it.each(['', '\n', 'cut-short', 'x'.repeat(42)])(
  'a truncated file of the application secret is rejected, and kept: %j',
  async (text) => {
    const folder = await makeFolder()
    await writeFile(join(folder, 'app-secret'), text)
    expect(() => loadAppSecret(undefined, folder)).toThrow(AppSecretError)
    expect(await readFile(join(folder, 'app-secret'), 'utf8')).toBe(text)
  },
)

it('a truncated application secret stops the start of the service, with one line', async () => {
  const dataDir = await makeDirectory()
  await writeFile(join(dataDir, 'app-secret'), '')
  const service = await launchService({ dataDir })
  expect(await service.ended).toEqual({ code: 1, signal: null })
  expect(service.stderr()).toMatch(/^.*app-secret is truncated\. Restore .*\n$/)
  await rm(join(dataDir, 'app-secret'))
  await startService({ dataDir })
})
