import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import ts from 'typescript'
import { afterAll, describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '../..')
// Below the root, so that its packages are found.
const folder = join(root, 'node_modules/.cache', `apps-guide-${process.pid}`)
const guide = await readFile(join(root, 'docs/apps.md'), 'utf8')
const description = JSON.parse(await readFile(join(root, 'docs/openapi.json'), 'utf8')) as {
  paths: Record<string, Record<string, { operationId: string }>>
}

afterAll(() => rm(folder, { recursive: true, force: true }))

/** The messages of the compiler about a program that uses the types of the API. */
async function compile(program: string): Promise<string[]> {
  await mkdir(folder, { recursive: true })
  await copyFile(join(root, 'packages/client/src/api.ts'), join(folder, 'api.ts'))
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  await writeFile(join(folder, 'app.ts'), program)
  const compiled = ts.createProgram([join(folder, 'app.ts')], {
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
  })
  return ts
    .getPreEmitDiagnostics(compiled)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
}

describe('docs/apps.md', () => {
  it('has a program that compiles with the types of the API', { timeout: 120_000 }, async () => {
    const [, program = ''] = /```ts\n([^]*?)```/.exec(guide) ?? []
    expect(program).toContain('/agent/v1/')
    expect(await compile(program)).toEqual([])
    expect(await compile(program.replace('results', 'found'))).toEqual([
      expect.stringContaining("Property 'found' does not exist"),
    ])
  })

  it('names operations and paths that the API has', () => {
    const ids = Object.values(description.paths).flatMap((methods) =>
      Object.values(methods).map(({ operationId }) => operationId),
    )
    const named = Array.from(guide.matchAll(/`(agent\.\w+)`/g), ([, id]) => id)
    expect(named).not.toEqual([])
    expect(named.filter((id) => !ids.includes(String(id)))).toEqual([])
    const paths = Array.from(guide.matchAll(/\$SERVICE(\/agent\/(?:oauth|v1)[\w/:]+)/g), ([, path]) =>
      String(path),
    )
    expect(paths).toContain('/agent/oauth/token')
    expect(paths.filter((path) => !(path in description.paths))).toEqual([])
  })
})
