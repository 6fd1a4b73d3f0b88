import { copyFileSync, cpSync, linkSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { makeDirectory, root, run } from './service.ts'

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
    for (const part of ['package.json', 'scripts', 'drizzle', 'public', 'dist', 'CHANGELOG.md', 'docs'])
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

describe('the SBOM', () => {
  it('names the service, Node.js and the packages of Debian', async () => {
    const directory = await makeDirectory()
    const [file, status] = [join(directory, 'sbom.cdx.json'), join(directory, 'status')]
    writeFileSync(
      file,
      JSON.stringify({ metadata: { component: { name: 'app' } }, components: [{ name: 'pg' }] }),
    )
    writeFileSync(
      status,
      [
        'Package: libssl3\nStatus: install ok installed\nArchitecture: amd64\nVersion: 1:3.0.17-1+b1\nDescription: keys\n Package: x\n',
        'Package: gone\nStatus: deinstall ok config-files\nArchitecture: all\nVersion: 1\n',
      ].join('\n'),
    )
    await runNode(root, 'scripts/complete-sbom.cjs', file, status)
    const { metadata, components } = JSON.parse(readFileSync(file, 'utf8')) as {
      metadata: object
      components: { name: string; version?: string; purl?: string }[]
    }
    expect(metadata).toEqual({ component: { name: 'workspace-service' } })
    expect(components.map(({ name }) => name)).toEqual(['pg', 'node', 'libssl3'])
    expect(components[1]?.version).toBe(process.versions.node)
    expect(components[2]?.purl).toBe('pkg:deb/debian/libssl3@1%3A3.0.17-1%2Bb1?arch=amd64')
  })
})

describe('the Dockerfile', () => {
  it('labels the image with the version of the package', () => {
    expect(read('Dockerfile')).toContain(`ARG VERSION=${version}\n`)
  })
})
