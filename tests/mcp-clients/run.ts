import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Client } from '@modelcontextprotocol/client'
import { build } from 'esbuild'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { pathToFileURL } from 'node:url'
import { openBench } from '../../bench/harness.ts'
import { createAgentMemory } from '../support/agent-memory.ts'
import { allow, createPerson, type Person } from '../support/person.ts'
import { findClosedPort } from '../support/raw-http.ts'
import { hasBrowser, openBrowser } from '../website/browser.ts'

const usage = 'node --import tsx tests/mcp-clients/run.ts FOLDER'

/** A client has this long to connect and to call the tool. */
const limitMs = 60_000

/** What a run of a client works with. */
interface Run {
  /** The URL of the MCP endpoint, which is all that clients know. */
  url: string
  origin: string
  person: Person
  /** The folder in which the clients are installed. */
  folder: string
}

/** Each connects a client, has it call read_validation_kit, and returns what the client shows of the answer. */
const clients: Record<string, (run: Run) => Promise<unknown>> = {
  '@ai-sdk/mcp': runAiSdk,
  'mcp-remote': runMcpRemote,
  'the MCP Inspector': runInspector,
  'a page of another origin in Chromium': runPage,
}

process.exitCode = await main(process.argv.slice(2))

/** Connects each client to the built service. The person allows in the browser what the client asks for. */
async function main([folder]: string[]): Promise<number> {
  if (folder === undefined) {
    console.error(usage)
    return 1
  }
  const bench = await openBench()
  let failures = 0
  try {
    const database = await bench.database('clients', async () => [])
    const { origin, ...service } = await bench.start('the service', ['dist/server.js'], database)
    const person = await createPerson({ origin, ...service })
    for (const [name, run] of Object.entries(clients)) {
      if (run === runPage && !hasBrowser) {
        console.log(`${name}: skipped, since Chromium is not installed`)
        continue
      }
      try {
        const shown = JSON.stringify(await run({ url: `${origin}/agent/mcp`, origin, person, folder }))
        if (!shown.includes('acme')) throw new Error(`it did not read the kit: ${shown}`)
        console.log(`${name}: connected, and read the validation kit`)
      } catch (error) {
        failures += 1
        console.log(`${name}: failed:`, error)
      }
    }
  } finally {
    await bench.close()
  }
  return failures === 0 ? 0 : 1
}

interface AiSdk {
  auth: (provider: unknown, options: Record<string, unknown>) => Promise<string>
  createMCPClient: (options: unknown) => Promise<{
    callTool: (options: { name: string; args: object }) => Promise<unknown>
    close: () => Promise<void>
  }>
}

async function runAiSdk({ url, person, folder }: Run): Promise<unknown> {
  const path = createRequire(join(folder, 'package.json')).resolve('@ai-sdk/mcp')
  const { auth, createMCPClient } = (await import(pathToFileURL(path).href)) as AiSdk
  const redirectUrl = `http://127.0.0.1:${await findClosedPort()}/callback`
  const authProvider = createAgentMemory('AI SDK', redirectUrl)
  await auth(authProvider, { serverUrl: url })
  const back = await allow(person.browser, authProvider.memory.authorization ?? '')
  const authorizationCode = back.searchParams.get('code')
  await auth(authProvider, { serverUrl: url, authorizationCode })
  const client = await createMCPClient({ transport: { type: 'http', url, authProvider } })
  try {
    return await client.callTool({ name: 'read_validation_kit', args: {} })
  } finally {
    await client.close()
  }
}

async function runMcpRemote({ url, origin, person, folder }: Run): Promise<unknown> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [join(folder, 'node_modules/mcp-remote/dist/proxy.js'), url, String(await findClosedPort())],
    env: { ...quietEnvironment(folder), MCP_REMOTE_CONFIG_DIR: folder },
    stderr: 'pipe',
  })
  const { stderr } = transport
  if (stderr instanceof Readable) allowWhenAsked(stderr, origin, person)
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(transport, { timeout: limitMs })
  try {
    return await client.callTool({ name: 'read_validation_kit', arguments: {} })
  } finally {
    await client.close()
  }
}

async function runInspector({ url, origin, person, folder }: Run): Promise<unknown> {
  const manifest = join(folder, 'node_modules/@modelcontextprotocol/inspector/package.json')
  const { bin } = createRequire(manifest)(manifest) as { bin: Record<string, string> }
  const program = join(manifest, '..', String(bin['mcp-inspector']))
  const callback = `http://127.0.0.1:${await findClosedPort()}/oauth/callback`
  const child = spawn(
    process.execPath,
    [
      ...[program, '--cli', url, '--transport', 'http', '--callback-url', callback],
      ...['--method', 'tools/call', '--tool-name', 'read_validation_kit'],
    ],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...quietEnvironment(folder), MCP_AUTO_OPEN_ENABLED: 'true' },
      timeout: limitMs,
    },
  )
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  allowWhenAsked(child.stdout, origin, person)
  allowWhenAsked(child.stderr, origin, person)
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new Error(`it ended with ${code}: ${output}`)
  return output
}

async function runPage({ url, origin, person }: Run): Promise<unknown> {
  const bundled = await build({
    entryPoints: ['tests/mcp-clients/page.js'],
    bundle: true,
    write: false,
    format: 'esm',
    logLevel: 'error',
  })
  const script = bundled.outputFiles[0]?.text ?? ''
  const site = createServer((request, response) => {
    const isScript = request.url === '/page.js'
    response
      .setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
      .end(isScript ? script : '<!doctype html><script type="module" src="/page.js"></script>')
  })
  site.listen(0, 'localhost')
  await once(site, 'listening')
  const browser = await openBrowser()
  try {
    const page = await browser.newPage()
    page.setDefaultTimeout(limitMs)
    await page.goto(`${origin}/sign-in`)
    await page.getByLabel('Email').fill(person.email)
    await page.getByLabel('Password').fill(person.password)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    const home = `http://localhost:${(site.address() as AddressInfo).port}/`
    await page.goto(`${home}?${new URLSearchParams({ server: url }).toString()}`)
    await page.getByRole('button', { name: 'Allow' }).click()
    await page.waitForFunction(`document.title.startsWith('Read ') || document.title.startsWith('Failed: ')`)
    return await page.title()
  } finally {
    await browser.close()
    site.close()
  }
}

/** Allows what a client asks for, once it prints the URL, and sends it the answer. */
function allowWhenAsked(output: Readable, origin: string, { browser }: Person): void {
  let isAsked = false
  createInterface({ input: output }).on('line', (line) => {
    const url = line.split(/\s/).find((word) => word.startsWith(`${origin}/agent/oauth/authorize?`))
    if (url === undefined || isAsked) return
    isAsked = true
    allow(browser, url)
      .then((back) => fetch(back))
      .catch((error: unknown) => console.log(error))
  })
}

/** Clients keep their files in the folder, and open no browser. */
function quietEnvironment(folder: string): Record<string, string> {
  return { PATH: String(process.env.PATH), HOME: folder, BROWSER: 'true' }
}
