import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createAgentAccess } from '../../bench/agent-access.ts'
import { openBench, type Subject } from '../../bench/harness.ts'
import { allow, createPerson } from '../support/person.ts'
import { findClosedPort } from '../support/raw-http.ts'
import { exceptions } from './does-not-apply.ts'

const usage = 'node --import tsx tests/conformance/run.ts NODE CONFORMANCE'

/** The revisions of MCP whose required scenarios are run: one with a handshake, and one without. */
const revisions = ['2025-11-25', '2026-07-28']

/** With fewer, a revision was not really tested. */
const passedMin = 20

const exceptionNames = new Set(
  exceptions.flatMap(({ scenarios = [], checks = [] }) => [...scenarios, ...checks]),
)

process.exitCode = await main(process.argv.slice(2))

/**
 * Runs the conformance suite of MCP against the built service: the scenarios for authorization servers, and those that
 * each revision requires of servers. The checks in does-not-apply.ts must fail, and all others must pass.
 */
async function main([node, suite]: string[]): Promise<number> {
  if (node === undefined || suite === undefined) {
    console.error(usage)
    return 1
  }
  const bench = await openBench()
  try {
    const database = await bench.database('conformance', async () => [])
    const service = await bench.start('the service', ['dist/server.js'], database)
    const start = (...args: string[]) =>
      spawn(node, [suite, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })

    const isServerRight = await runServer(service, start)
    const isAuthorizationRight = await runAuthorization(service, start)
    console.log(
      isServerRight && isAuthorizationRight ? 'The service conforms.' : 'The service does not conform.',
    )
    return isServerRight && isAuthorizationRight ? 0 : 1
  } finally {
    await bench.close()
  }
}

type Start = (...args: string[]) => ChildProcess

/** A result of the suite. */
interface Check {
  id: string
  status: string
  errorMessage?: string
}

/** Runs the scenarios for servers. */
async function runServer(service: Subject, start: Start): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'conformance-'))
  const proxy = await startProxy(service)
  const url = `http://localhost:${(proxy.address() as AddressInfo).port}/agent/mcp`
  try {
    const unused = new Set(exceptionNames)
    const failures: string[] = []
    for (const revision of revisions) {
      const results = join(folder, revision)
      // Its exit code also counts what does not apply.
      const run = start('server', '--url', url, '--requirements', revision, '--output-dir', results)
      run.stdout?.resume()
      await once(run, 'close')
      let passed = 0
      for (const { scenario, id, status, errorMessage = status } of await readChecks(results)) {
        if (status === 'SUCCESS') passed += 1
        if (status === 'SUCCESS' || status === 'INFO') continue
        const known = [scenario, id].find((name) => exceptionNames.has(name))
        if (known === undefined) failures.push(`${revision}: ${scenario}: ${id}: ${errorMessage}`)
        else unused.delete(known)
      }
      console.log(`${revision}: ${passed} checks passed`)
      if (passed < passedMin) failures.push(`${revision}: only ${passed} checks passed`)
    }
    failures.push(...[...unused].map((name) => `${name} does not fail: remove it from does-not-apply.ts`))
    for (const failure of failures) console.log(failure)
    return failures.length === 0
  } finally {
    proxy.close()
    await rm(folder, { recursive: true })
  }
}

async function readChecks(folder: string): Promise<(Check & { scenario: string })[]> {
  const all = []
  for (const name of await readdir(folder)) {
    const scenario = /^server-(.*)-\d{4}-\d\d-\d\dT[\d-]+Z$/.exec(name)?.[1] ?? name
    const checks = JSON.parse(await readFile(join(folder, name, 'checks.json'), 'utf8')) as Check[]
    all.push(...checks.map((check) => ({ ...check, scenario })))
  }
  return all
}

/** Runs the scenarios for authorization servers. When the suite asks for it, the person allows access in the browser. */
async function runAuthorization(service: Subject, start: Start): Promise<boolean> {
  const { browser } = await createPerson(service)
  const port = await findClosedPort()
  const registered = await fetch(`${service.origin}/agent/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      client_name: 'Conformance',
      redirect_uris: [`http://127.0.0.1:${port}/callback`],
    }),
  })
  const { client_id: clientId } = (await registered.json()) as { client_id: string }
  const resource = `${service.origin}/agent/mcp`
  const run = start(
    'authorization',
    ...['--url', service.origin, '--client-id', clientId, '--port', String(port), '--resource', resource],
  )
  const ended = once(run, 'close') as Promise<[number | null]>
  let isAsked = false
  if (run.stdout) {
    for await (const line of createInterface({ input: run.stdout })) {
      if (/passed|failed/.test(line)) console.log(line)
      if (!line.startsWith(`${service.origin}/agent/oauth/authorize?`)) continue
      isAsked = true
      await fetch(await allow(browser, line))
    }
  }
  const [code] = await ended
  return code === 0 && isAsked
}

/** Starts a proxy that adds an access token, which the suite cannot send. It changes nothing else. */
async function startProxy(service: Subject): Promise<Server> {
  const [access] = await createAgentAccess(service, 1)
  if (!access) throw new Error('there is no agent')
  const proxy = createServer((incoming, response) => {
    const headers = { ...incoming.headers, authorization: `Bearer ${access.accessToken}` }
    const options = { method: incoming.method, headers, setHost: false }
    const forwarded = request(new URL(incoming.url ?? '/', service.origin), options, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    forwarded.on('error', () => response.destroy())
    incoming.pipe(forwarded)
  })
  proxy.listen(0, 'localhost')
  await once(proxy, 'listening')
  return proxy
}
