import { copyFileSync, cpSync, linkSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { makeDirectory, root, run } from './service.ts'

vi.setConfig({ testTimeout: 120_000 })

const read = (file: string) => readFileSync(join(root, file), 'utf8')
const { dependencies, version } = JSON.parse(read('package.json')) as {
  dependencies: Record<string, string>
  version: string
}
const { isBundled } = (await import(join(root, 'scripts/build.cjs'))) as {
  isBundled: (name: string) => boolean
}

/** The size that the packages of the image may have, in bytes. */
const modulesBytesMax = 80e6

/** Runs Node to its end in a directory. */
async function runNode(workingDirectory: string, ...args: string[]) {
  const program = run(process.execPath, args, { workingDirectory })
  const { code } = await program.ended
  expect({ code, stderr: program.stderr() }).toEqual({ code: 0, stderr: program.stderr() })
  return program.stdout()
}

/** Copies a folder by hard links, since copying half a gigabyte takes half a minute; by copies on another device. */
function linkFiles(from: string, to: string): void {
  mkdirSync(to)
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    if (entry.isDirectory()) linkFiles(source, target)
    else if (entry.isFile()) linkOrCopy(source, target)
  }
}

function linkOrCopy(source: string, target: string): void {
  try {
    linkSync(source, target)
  } catch {
    copyFileSync(source, target)
  }
}

describe('the packages of the image', () => {
  it('are small, and are all that the service loads', async () => {
    const directory = await makeDirectory()
    for (const part of ['package.json', 'scripts', 'drizzle', 'public', 'dist'])
      cpSync(join(root, part), join(directory, part), { recursive: true })
    linkFiles(join(root, 'node_modules'), join(directory, 'node_modules'))
    const pruned = await runNode(directory, 'scripts/prune-modules.cjs')
    const [, megabytes] = /with ([\d.]+) MB/.exec(pruned) ?? []
    expect(Number(megabytes) * 1e6).toBeGreaterThan(10e6)
    expect(Number(megabytes) * 1e6).toBeLessThan(modulesBytesMax)

    // The whole service, and then what it loads on first use.
    const description = await runNode(directory, 'dist/cli/admin.js', 'export-openapi')
    expect(JSON.parse(description)).toEqual(JSON.parse(read('docs/openapi.json')))
    const loaded = Object.keys(dependencies).filter((name) => !isBundled(name))
    const script = loaded.map((name) => `await import(${JSON.stringify(name)})`).join('\n')
    await runNode(directory, '--input-type=module', '-e', script)
  })
})

describe('the Dockerfile', () => {
  it('labels the image with the version of the package', () => {
    expect(read('Dockerfile')).toContain(`ARG VERSION=${version}\n`)
  })
})
