import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  findUser,
  launchService,
  makeDirectory,
  mayRunProgram,
  root,
  startService,
  stopService,
} from './service.ts'

/** Runs Node to its end, in an environment with nothing of ours but the way to programs. */
function runNode(args: string[], options: { cwd?: string; environment?: Record<string, string> } = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: options.cwd ?? root,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...options.environment },
    encoding: 'utf8',
    timeout: 50_000,
  })
  return { status, stdout, stderr }
}

describe('the version of Node', () => {
  // What a script sees of the Node that runs it.
  const pretend = (version: string) =>
    `Object.defineProperty(process.versions, 'node', { value: '${version}' });` +
    `Object.defineProperty(process, 'version', { value: 'v${version}' });`

  it.each(['18.20.8', '20.18.3', '21.7.3', '22.12.0', '23.11.1', '8.17.0'])(
    '%s is rejected in one line, before anything else is loaded',
    (version) => {
      for (const program of ['dist/server.js', 'dist/cli/admin.js', 'scripts/run.cjs', 'scripts/build.cjs']) {
        const entry = JSON.stringify(`file://${join(root, program)}`)
        const { status, stdout, stderr } = runNode(['-e', `${pretend(version)} import(${entry})`])
        expect({ program, status, stdout, stderr }).toEqual({
          program,
          status: 1,
          stdout: '',
          stderr: `Node ^20.19.0 || ^22.13.0 || >=24.0.0 is required; this is v${version}.\n`,
        })
      }
    },
  )

  it.each(['20.19.0', '20.20.2', '22.13.0', '22.22.1', '24.0.0', '24.11.0', '26.1.0'])(
    '%s is accepted',
    (version) => {
      const script = `${pretend(version)} require('./scripts/require-node.cjs'); console.log('loaded')`
      expect(runNode(['-e', script])).toEqual({ status: 0, stdout: 'loaded\n', stderr: '' })
    },
  )

  it('is the same in engines, devEngines and .nvmrc', () => {
    const { engines, devEngines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      engines: { node: string }
      devEngines: { runtime: { version: string } }
    }
    expect(devEngines.runtime.version).toBe(engines.node)
    expect(engines.node).toContain(`^${readFileSync(join(root, '.nvmrc'), 'utf8').trim()}.`)
  })
})

describe('building before the start', () => {
  /** A checkout whose bundler writes down each time that it is run. */
  async function makeCheckout() {
    const folder = await makeDirectory()
    for (const name of ['scripts', 'package.json', 'package-lock.json', 'tsconfig.json'])
      cpSync(join(root, name), join(folder, name), { recursive: true })
    const write = (path: string, text: string) => {
      mkdirSync(join(folder, path, '..'), { recursive: true })
      writeFileSync(join(folder, path), text)
    }
    write('src/greet.ts', 'console.log("hello")\n')
    write('greet.js', 'console.log("hello", process.argv.slice(2).join())\n')
    const install = () =>
      write(
        'node_modules/esbuild/index.js',
        `exports.buildSync = () => {
          const { appendFileSync, cpSync } = require('node:fs')
          appendFileSync('built', 'once\\n')
          cpSync('greet.js', 'dist/greet.js')
        }`,
      )
    const builds = () => readFileSync(join(folder, 'built'), 'utf8').split('\n').length - 1
    const start = (environment: Record<string, string> = {}) =>
      runNode(['scripts/run.cjs', 'greet', 'you'], { cwd: folder, environment })
    return { folder, write, install, builds, start }
  }

  it('happens only when a source file has changed', async () => {
    const { write, install, builds, start } = await makeCheckout()
    install()
    expect(start()).toEqual({ status: 0, stdout: 'hello you\n', stderr: '' })
    expect(builds()).toBe(1)
    start()
    // The same text, written again, as a checkout does.
    write('src/greet.ts', 'console.log("hello")\n')
    start()
    expect(builds()).toBe(1)
    write('src/greet.ts', 'console.log("good day")\n')
    start()
    expect(builds()).toBe(2)
    write('src/deeper/another.ts', '')
    start()
    expect(builds()).toBe(3)
  })

  it('is repeated after a failed build', async () => {
    const { write, install, builds, start } = await makeCheckout()
    install()
    write('node_modules/esbuild/index.js', 'exports.buildSync = () => { throw new Error() }')
    expect(start()).toEqual({ status: 1, stdout: '', stderr: '' })
    install()
    expect(start().stdout).toBe('hello you\n')
    expect(builds()).toBe(1)
  })

  it('prints what to install when the development packages are missing', async () => {
    const { start } = await makeCheckout()
    expect(start({ NODE_ENV: 'production' })).toEqual({
      status: 1,
      stdout: '',
      stderr:
        'The service is not built, and the development packages are not installed (npm leaves them out with ' +
        'NODE_ENV=production). Run: npm ci --include=dev && npm run build && npm prune --omit=dev\n',
    })
  })

  it('is skipped without the development packages when the build is up to date', async () => {
    const { folder, install, start } = await makeCheckout()
    install()
    start()
    spawnSync('rm', ['-r', join(folder, 'node_modules')])
    expect(start({ NODE_ENV: 'production' }).stdout).toBe('hello you\n')
  })
})

describe('starting the service', () => {
  it('fails in production without DATABASE_URL', async () => {
    const service = await launchService({ environment: { NODE_ENV: 'production' } })
    expect(await service.ended).toEqual({ code: 1, signal: null })
    expect(service.stderr()).toBe(
      'Invalid setting: DATABASE_URL is required with NODE_ENV=production: the embedded database is for development.\n',
    )
  })

  it('fails with one line when the data directory is not writable', async ({ skip }) => {
    const user = process.getuid?.() === 0 ? await findUser('nobody') : undefined
    skip(user !== undefined && !(await mayRunProgram(user)), 'no other account may run the program here')
    const folder = await makeDirectory(user)
    chmodSync(folder, 0o555)
    for (const environment of [{}, { DATABASE_URL: 'postgres://127.0.0.1:1/none' }]) {
      const service = await launchService({
        dataDir: join(folder, 'data'),
        environment,
        ...(user && { user }),
      })
      expect(await service.ended).toEqual({ code: 1, signal: null })
      expect(service.stderr()).toBe(
        `The data directory cannot be used: EACCES: permission denied, access '${folder}'. ` +
          'Set DATA_DIR to a folder that this account can write.\n',
      )
    }
  })
})

describe('the log', () => {
  it('consists of JSON lines without warnings, also when the first agent registers', async () => {
    const service = await startService({ dataDir: await makeDirectory() })
    const { length } = service.stdout()
    const registration = await fetch(`${service.baseUrl}/agent/oauth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ redirect_uris: ['http://127.0.0.1/callback'] }),
    })
    expect(registration.status).toBe(201)
    expect(await stopService(service)).toBe(0)
    const lines = service.stdout().slice(length).trim().split('\n')
    expect(lines.filter((line) => (JSON.parse(line) as { level: number }).level >= 40)).toEqual([])
    expect(lines.join()).not.toContain('oidc-provider')
    expect(service.stderr()).toBe('')
  })
})

describe('signing in with a password', () => {
  it('works with the packages that npm installed', async () => {
    const service = await startService({ dataDir: await makeDirectory() })
    const email = 'grace@example.com'
    const password = 'correct horse battery staple'
    const visitor = openBrowser(service.baseUrl)
    await visitor.submit('/sign-up', { name: 'Grace', email, password })
    const [link] = await service.said(/http\S+\/verify-email\/[\w-]+/)
    await visitor.submit(new URL(link).pathname, { password })
    await visitor.submit('/sign-out', {}, '/settings/security')
    expect(await visitor.submit('/sign-in', { email, password: 'something else' })).toMatchObject({
      status: 303,
      location: expect.stringMatching(/^\/sign-in\?flash=/) as unknown,
    })
    expect(await visitor.submit('/sign-in', { email, password })).toMatchObject({
      status: 303,
      location: '/',
    })
    expect(await stopService(service)).toBe(0)
  })

  /** A browser with cookies, as far as forms need one. */
  function openBrowser(baseUrl: string) {
    const cookies = new Map<string, string>()
    const load = async (path: string, body?: URLSearchParams) => {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
      const init = { redirect: 'manual' as const, headers: { cookie, origin: baseUrl } }
      const answer = await fetch(baseUrl + path, body ? { ...init, method: 'POST', body } : init)
      for (const line of answer.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
        cookies.set(name, value)
      }
      return answer
    }
    return {
      async submit(action: string, fields: Record<string, string>, page = action) {
        const text = await (await load(page)).text()
        const token = /name="_csrf"\s+value="([^"]*)"/.exec(text)?.[1] ?? ''
        const answer = await load(action, new URLSearchParams({ ...fields, _csrf: token }))
        return { status: answer.status, location: answer.headers.get('location') }
      },
    }
  }
})
