import { setTimeout } from 'node:timers/promises'
import { build } from 'esbuild'
import { findClosedPort } from '../../tests/support/raw-http.ts'
import { createAgentAccess } from '../agent-access.ts'
import { refreshInTurn, type Chain } from '../chains.ts'
import { atMost, below } from '../compare.ts'
import { company, crowd, openBigDatabase, seedWithEvidence } from '../databases.ts'
import { memoryMb, peakMemoryMb, type Area, type Bench, type Subject } from '../harness.ts'
import { repeat, sendNext, type Load } from '../loads.ts'
import type { Row, Trial } from '../report.ts'
import { service } from '../compared-servers.ts'
import { openWriteDatabase, type WriteDatabase } from '../write-database.ts'
import { writeRequests } from '../write-requests.ts'
import { kitRequests } from './kit.ts'

const idleMs = 5_000
const loadSeconds = 60

/** The connections of each read, list, write and kit; with those of the refreshes about fifty. */
const atOnce = 2
const agentsAtOnce = 4

/** What the service may take beyond the bare servers, under the same load: code, and limits of what it keeps. */
const moreMb = 80

/** What an export may take at its peak beyond the idle process, however large the workspace is. */
const exportMb = 60

export const memory: Area = {
  name: 'memory',
  title: `Memory (RSS) ${idleMs / 1000} s after the start, and at most in ${loadSeconds} s of mixed load`,
  async prepare(bench) {
    const original = await openWriteDatabase(bench)
    const trial: Trial = {
      name: 'mixed load',
      async run() {
        const ours = await measure(bench, original, await startService(bench, original))
        const bare = await measure(bench, original, await startBareServers(bench, original))
        const row = { server: 'this service', unit: 'MB' }
        const bareRow = { server: 'bare servers, in one process', unit: 'MB' }
        return [
          { ...row, request: 'idle', values: [ours.idleMb], goal: below(110) },
          { ...bareRow, request: 'idle', values: [bare.idleMb] },
          { ...row, request: 'mixed load', values: [ours.peakMb], goal: below(250) },
          { ...bareRow, request: 'mixed load', values: [bare.peakMb] },
          {
            ...row,
            request: 'mixed load',
            values: [ours.peakMb - bare.peakMb],
            unit: 'MB more than the bare servers',
            goal: atMost(moreMb),
          },
        ]
      },
    }
    return [trial, { name: 'workspaces.export', run: () => measureExport(bench) }]
  },
}

/** Exports a workspace with a million events from a process that does nothing else. */
async function measureExport(bench: Bench): Promise<Row[]> {
  const subject = await bench.startAnew('this service', service, await openBigDatabase(bench), wait)
  await setTimeout(idleMs)
  const idleMb = memoryMb(subject)
  const answer = await fetch(`${subject.origin}/v1/workspaces/${company.slug}/export`, {
    headers: { authorization: `Bearer ${subject.database.apiKey}` },
  })
  if (!answer.ok || !answer.body) throw new Error(`the export is answered with ${answer.status}`)
  let tail = ''
  for await (const chunk of answer.body.pipeThrough(new TextDecoderStream()))
    tail = (tail + chunk).slice(-100)
  const count = /\{"kind":"end","data":\{"count":(\d+)\}\}\n$/.exec(tail)?.[1]
  if (count === undefined) throw new Error('the export is not whole')
  const peakMb = peakMemoryMb(subject)
  await bench.stop(subject)
  const request = `workspaces.export, ${count} lines, nearly all of them events`
  return [
    {
      request,
      server: 'this service',
      values: [peakMb - idleMb],
      unit: 'MB more than idle',
      goal: atMost(exportMb),
    },
  ]
}

/** A process, by what it serves. */
interface Mixed extends Record<'reads' | 'writes' | 'kit' | 'refreshes', Subject> {
  /** What its kits are read with, by default an access token. */
  tokenOf?: (access: { grantId: string }) => string
  /** By default those of its agents. */
  findChains?: () => Promise<Chain[]>
}

const wait = { path: '/ready', everyMs: 5 }

async function startService(bench: Bench, original: WriteDatabase): Promise<Mixed> {
  // With its jobs: mails are part of the load.
  const database = await bench.copy('mixed', original)
  const subject = await bench.startAnew('this service', service, database, wait)
  return { reads: subject, writes: subject, kit: subject, refreshes: subject }
}

async function startBareServers(bench: Bench, original: WriteDatabase): Promise<Mixed> {
  const database = await bench.copy('mixed_bare', original)
  // tsx would take memory of its own.
  await build({
    entryPoints: ['bench/bare-all-server.ts'],
    outdir: 'dist/bench',
    bundle: true,
    splitting: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
  })
  const ports = [await findClosedPort(), await findClosedPort(), await findClosedPort()]
  const args = ['dist/bench/bare-all-server.js', ...ports.map(String)]
  const reads = await bench.startAnew('bare servers', args, database)
  const [writes, kit, refreshes] = ports.map((port) => ({ ...reads, origin: `http://127.0.0.1:${port}` }))
  if (!writes || !kit || !refreshes) throw new Error('there is a port for each')
  return {
    reads,
    writes,
    kit,
    refreshes,
    tokenOf: ({ grantId }) => grantId,
    findChains: async () => (await (await fetch(`${refreshes.origin}/chains`)).json()) as Chain[],
  }
}

/** Measures the memory of a process, which it stops. */
async function measure(bench: Bench, original: WriteDatabase, mixed: Mixed) {
  const { reads, writes, kit, refreshes, tokenOf, findChains } = mixed
  await setTimeout(idleMs)
  const idleMb = memoryMb(reads)
  const agents = await createAgentAccess(reads, agentsAtOnce)
  const chains = (await findChains?.()) ?? agents
  const [first] = agents
  if (!first) throw new Error('there is no agent')
  const paths = [
    ...['/v1/me', '/v1/workspaces', `/v1/workspaces/${company.slug}`],
    ...[`/v1/workspaces/${company.slug}/members`, `/v1/workspaces/${company.slug}/events`],
    ...[`/v1/workspaces/${crowd.slug}/people`, `/v1/workspaces/${crowd.slug}/seeds`],
    `/v1/seeds/${seedWithEvidence}/evidence`,
  ]
  const { http, oneSeedOverMcp } = kitRequests(tokenOf ? { ...first, accessToken: tokenOf(first) } : first)
  const reader = { ...reads, database: { ...reads.database, callers: original.readers } }
  const loads: [Subject, Load][] = [
    ...paths.map((path): [Subject, Load] => [reader, repeat(() => ({ path }), atOnce)]),
    ...[http, oneSeedOverMcp].map((request): [Subject, Load] => [kit, repeat(() => request, atOnce)]),
    // They name their writers.
    ...Object.values(writeRequests(original)).map((requestOf): [Subject, Load] => [
      writes,
      sendNext(requestOf, atOnce),
    ]),
    [refreshes, refreshInTurn(() => chains.slice(0, agentsAtOnce))],
  ]
  await Promise.all(loads.map(([subject, load]) => load(subject, loadSeconds)))
  const peakMb = peakMemoryMb(reads)
  await bench.stop(reads)
  return { idleMb, peakMb }
}
