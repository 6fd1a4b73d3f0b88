import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { findPort, keyOf, makeDirectory, root, run, untilNothingRunsIn, type Run } from './service.ts'

const readText = (file: string) => readFileSync(join(root, file), 'utf8')
const readme = readText('README.md')

/** The commands of a section, block by block, without the indentation of lists. */
function commandsOf(heading: string, file: string): string[] {
  const text = readText(file)
  const from = text.indexOf(`\n## ${heading}\n`)
  if (from < 0) throw new Error(`${file} has no section ${heading}`)
  const to = text.indexOf('\n## ', from + 1)
  const section = text.slice(from + 1, to < 0 ? undefined : to)
  return [...section.matchAll(/^( *)```sh\n(.*?)^ *```$/gms)].map(([, indentation = '', block = '']) =>
    block.replaceAll(new RegExp(`^${indentation}`, 'gm'), ''),
  )
}

/** A copy of the checkout, as it is cloned, on top of the packages that `npm ci` has installed. */
async function copyCheckout(): Promise<string> {
  const folder = join(await makeDirectory(undefined, 'file'), 'checkout')
  mkdirSync(folder)
  const isLeftOut = (name: string) =>
    ['node_modules', 'dist', 'tests', 'bench', '.git', '.data', '.env'].includes(name)
  for (const name of readdirSync(root).filter((each) => !isLeftOut(each)))
    cpSync(join(root, name), join(folder, name), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  return folder
}

/** The port that the README names, unless somebody listens on it. */
async function choosePort(): Promise<number> {
  const server = createServer().listen(3000, '127.0.0.1')
  const isFree = await once(server, 'listening').then(
    () => true,
    () => false,
  )
  if (isFree) await new Promise((resolve) => server.close(resolve))
  return isFree ? 3000 : findPort()
}

describe('the commands of the README and the tour, pasted in order', () => {
  let folder: string
  let service: Run
  let port: number
  let isComplete = false

  beforeAll(async () => {
    const shell = run('sh', ['-c', 'curl --version && npm --version'], { lifetime: 'file' })
    isComplete = (await shell.ended).code === 0
    if (!isComplete) return
    folder = await copyCheckout()
    port = await choosePort()
  })

  /** Pastes commands into a shell. `wsk_…` is where the reader puts the key that the first start printed. */
  async function paste(blocks: string[]): Promise<string[]> {
    const marker = '\u0001'
    const script = blocks.map((block) => `${block}\nprintf '${marker}'`).join('\n')
    const shell = run('bash', ['-eo', 'pipefail', '-c', toReal(script)], { workingDirectory: folder })
    expect(await shell.ended, shell.stdout() + shell.stderr()).toEqual({ code: 0, signal: null })
    const outputs = shell.stdout().split(marker).slice(0, -1)
    expect(outputs).toHaveLength(blocks.length)
    return outputs
  }
  const toReal = (text: string) =>
    text.replaceAll('wsk_…', keyOf(service)).replaceAll('localhost:3000', `localhost:${port}`)

  it('start the service, which prints what the README shows', async ({ skip }) => {
    skip(!isComplete, 'there is no curl or no npm')
    const [start = ''] = commandsOf('Two commands', 'README.md')
    expect(start).toBe('npm ci && npm start\n')
    service = run('npm', ['start'], {
      lifetime: 'file',
      isGroup: true,
      workingDirectory: folder,
      environment: port === 3000 ? {} : { PORT: String(port) },
    })
    await service.said(/\/v1\/me\n/)
    const shown = /```text\n(.*?)```/s.exec(readme)?.[1] ?? ''
    const secrets = (text: string) => text.replaceAll(/wsk_\w+|(?<=link\/)[\w-]+/g, '…')
    expect(secrets(service.stdout())).toContain(
      shown.replaceAll('wsk_…', '…').replaceAll('localhost:3000', `localhost:${port}`),
    )
  })

  it('create another link and another key', async ({ skip }) => {
    skip(!isComplete, 'there is no curl or no npm')
    const [again = '', help = ''] = await paste(commandsOf('I lost the key or the link', 'docs/tour.md'))
    expect(again).toContain(`http://localhost:${port}/sign-in/link/`)
    expect(again).toMatch(/wsk_\w+/)
    expect(help).toContain('ada@example.com')
  })

  it('call the API', async ({ skip }) => {
    skip(!isComplete, 'there is no curl or no npm')
    const [output = ''] = await paste(commandsOf('The API', 'README.md'))
    expect(output).toContain('ada@example.com')
    expect(output).toContain('"slug":"hello"')
    expect(output).toContain('Example: ')
    expect(output).toContain('"type":"seed.updated"')
    // The last one has no key.
    expect(output.match(/"_tag":"[A-Z]\w+"/g)).toEqual(['"_tag":"Unauthorized"'])
  })

  it('complete both tours', async ({ skip }) => {
    skip(!isComplete, 'there is no curl or no npm')
    const tour = commandsOf('Keys and workspaces', 'docs/tour.md')
    const together = commandsOf('Working together', 'docs/tour.md')
    const integrations = commandsOf('Connect an agent', 'docs/agents.md').at(-1) ?? ''
    const outputs = await paste([...tour, ...together, integrations])
    const [, me = '', , keys = '', revoked = '', preferences = '', workspace = ''] = outputs
    expect(JSON.parse(me)).toMatchObject({ email: 'ada@example.com' })
    expect(JSON.parse(keys)).toContainEqual(expect.objectContaining({ name: 'Laptop' }))
    expect(revoked).toContain('HTTP/1.1 401')
    expect(preferences).toContain('"productUpdates":false')
    expect(workspace).toContain('"slug":"acme-inc"')
    const [, invite = '', mail = '', accepted = '', , people = '', pages = '', nodePages = ''] =
      outputs.slice(tour.length)
    expect(invite).toContain('grace@example.com')
    expect(mail).toContain(`http://localhost:${port}/invites/`)
    expect(accepted).toContain('"slug":"acme-inc"')
    expect(people).toContain('Grace Hopper')
    expect(pages.match(/"id":/g)?.length).toBeGreaterThan(6)
    expect(nodePages.trim().split('\n').length).toBe(pages.match(/"createdAt":/g)?.length)
    expect(JSON.parse(outputs.at(-1) ?? '')).toEqual([])
    // The only error is the 401 that the tour announces.
    expect(
      outputs
        .join('')
        .match(/"_tag":"[A-Z]\w+"/g)
        ?.filter((tag) => !tag.includes('Unauthorized')),
    ).toEqual([])
  })

  it('are commands that exist for operators', async ({ skip }) => {
    skip(!isComplete, 'there is no curl or no npm')
    for (const command of commandsOf('Commands', 'docs/operations.md')
      .slice(0, 1)
      .flatMap((block) => block.trim().split('\n'))) {
      // On a terminal it would ask.
      const real = command.replace('CLIENT_ID', `${crypto.randomUUID()} --yes`)
      const shell = run('bash', ['-c', real], { workingDirectory: folder })
      // 1: Grace is there already, and no client has the id. 2 would be a command or an option that is not.
      expect((await shell.ended).code, command).toBe(/create-user|CLIENT_ID/.test(command) ? 1 : 0)
    }
  })

  it('end with Ctrl-C, and leave no process running', async ({ skip }) => {
    skip(!isComplete, 'there is no curl or no npm')
    service.signal('SIGINT')
    expect((await service.ended).signal ?? 0).toBeOneOf([0, 'SIGINT'])
    await untilNothingRunsIn(folder)
  })
})
