import { buildSync } from 'esbuild'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import ts from 'typescript'
import { createClient } from '../../packages/client/src/client.ts'
import { deleteOldEvents } from '../../src/areas/events/event-retention.repository.ts'
import { createCompany, createTeam, del, patch, post } from '../support/company.ts'
import { eventually } from '../support/eventually.ts'
import { listen } from '../support/raw-http.ts'
import { createLabel, createSeed, joinSeed } from '../support/seeds.ts'
import { createTestClock } from '../support/test-clock.ts'
import { startTestApp } from '../support/test-app.ts'
import { readExamples, writeExamples } from './examples.ts'

const root = join(import.meta.dirname, '../..')
// In the project, whose packages they use.
const folder = mkdtempSync(join(root, 'node_modules/.cache-examples-'))
afterAll(() => rmSync(folder, { recursive: true }))
const modules = {
  '@workspace-service/client': join(root, 'packages/client/src/client.ts'),
  '@workspace-service/client/webhooks': join(root, 'packages/client/src/webhooks.ts'),
}
writeExamples(folder)

it('compile, strictly and with exact optional properties', () => {
  const program = ts.createProgram(
    Object.keys(readExamples()).map((name) => join(folder, `${name}.ts`)),
    {
      strict: true,
      exactOptionalPropertyTypes: true,
      module: ts.ModuleKind.NodeNext,
      target: ts.ScriptTarget.ES2022,
      types: ['node'],
      typeRoots: [join(root, 'node_modules/@types')],
      moduleDetection: ts.ModuleDetectionKind.Force,
      skipLibCheck: true,
      allowImportingTsExtensions: true,
      noEmit: true,
      paths: Object.fromEntries(Object.entries(modules).map(([name, file]) => [name, [file]])),
    },
  )
  const problems = ts.getPreEmitDiagnostics(program)
  expect(problems.map(({ file, messageText }) => [file?.fileName, messageText])).toEqual([])
})

it('are installed from a file alone, in every document', () => {
  const documents = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`)
  const installed = ['README.md', 'packages/client/README.md', ...documents].flatMap((document) =>
    [...readFileSync(join(root, document), 'utf8').matchAll(/npm (?:install|i|add) ([^-\s]\S*)/g)].map(
      ([, given]) => given,
    ),
  )
  // A generated client, in docs/apps.md, needs a library of others.
  expect(installed.filter((given) => given !== 'openapi-fetch')).toEqual(['./workspace-client-VERSION.tgz'])
})

it('keep a copy in step, over a kill, old events that are deleted, new names and an erased person', async () => {
  const clock = createTestClock()
  const service = await startTestApp({ clock })
  const company = await createCompany(service)
  const { member, admin, url } = company
  const { slug } = company.workspace
  const { apiKey } = company.owner
  const baseUrl = `http://127.0.0.1:${await listen(service.app)}`
  const client = createClient({ baseUrl, apiKey })
  const file = join(folder, 'program.mjs')
  buildSync({
    ...{ entryPoints: [join(folder, 'following.ts')], outfile: file, alias: modules },
    ...{ bundle: true, format: 'esm', platform: 'node', target: 'node20' },
  })
  const start = () =>
    spawn(process.execPath, [file], {
      cwd: folder,
      env: { BASE_URL: baseUrl, API_KEY: apiKey, SLUG: slug },
      stdio: 'inherit',
    })
  const kill = async (program: ChildProcess) => {
    program.kill('SIGKILL')
    await once(program, 'exit')
  }
  /** Deletes the events until now, but the newest, as the hourly job does. */
  const forgetEvents = async () => {
    clock.advance(40 * 86_400_000)
    await createSeed(service, company.owner, company)
    await deleteOldEvents(service.db, new Date(clock.now().getTime() - 31 * 86_400_000))
  }
  const isEqual = async () => {
    const seeds = []
    for await (const seed of client.list('/v1/workspaces/{slug}/seeds', { params: { path: { slug } } }))
      seeds.push(seed)
    const copy = JSON.parse(readFileSync(join(folder, 'copy.json'), 'utf8')) as { seeds: object }
    expect(copy.seeds).toEqual(Object.fromEntries(seeds.map((seed) => [seed.id, seed])))
    return JSON.stringify(copy)
  }

  const [one, two] = [await createSeed(service, member, company), await createSeed(service, member, company)]
  await forgetEvents()
  let program = start()
  try {
    expect(await eventually(isEqual)).toContain(one.id)

    // Names of people, teams and labels are those of now.
    const team = await createTeam(service, admin, company, 'Research')
    const label = await createLabel(service, admin, company)
    await service.as(admin, patch(`/v1/seeds/${two.id}`, { teamId: team.id, labelIds: [label.id] }))
    await joinSeed(service, admin, two)
    await eventually(isEqual)
    await service.as(member, patch('/v1/me', { name: 'Mary Merged' }))
    await service.as(admin, patch(team.url, { name: 'Selling' }))
    await service.as(admin, patch(`${url}/labels/${label.id}`, { name: 'Prices' }))
    const renamed = await eventually(isEqual)
    for (const name of ['Mary Merged', 'Selling', 'Prices']) expect(renamed).toContain(name)

    await kill(program)
    await service.as(admin, post(`/v1/seeds/${one.id}/merge`, { into: two.id }))
    program = start()
    expect(await eventually(isEqual)).not.toContain(`"${one.id}":`)

    // Of who leaves, only the number of participants changes.
    await service.as(admin, del(`${url}/members/${admin.id}`))
    await eventually(isEqual)
    await service.services.accounts.delete(member.id, { withWorkspaces: true })
    expect(await eventually(isEqual)).not.toContain('Mary Merged')

    await kill(program)
    await client.delete('/v1/seeds/{id}', { params: { path: { id: two.id } } })
    await forgetEvents()
    program = start()
    await eventually(isEqual)
  } finally {
    await kill(program)
  }
})
