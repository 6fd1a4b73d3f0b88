import { execFile, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** Whether wrk is installed. It takes a fraction of the processor time of a load generator in JavaScript. */
export const hasWrk = spawnSync('wrk', ['-v']).error === undefined

export interface WrkResult {
  /** The requests that were sent, all of which were answered. */
  sent: number
  requestsPerSecond: number
  p50Ms: number
  p99Ms: number
}

export interface WrkOptions {
  seconds: number
  connections: number
  /** Whether it begins again after the last request. */
  repeats: boolean
  /** Whether requests may be answered with errors. */
  mayRefuse?: boolean
}

interface Output {
  sent: number
  answered: number
  refused: number
  failed: number
  p50Us: number
  p99Us: number
}

/**
 * Sends requests, as they go over the wire, on some connections for some seconds, by one thread of wrk, which reads them
 * from a file in the folder. Throws when one is answered with an error unless it may, when a connection fails, and when there are too
 * few requests and they are not repeated.
 */
export async function sendByWrk(
  { origin, folder }: { origin: string; folder: string },
  requests: readonly string[],
  { seconds, connections, repeats, mayRefuse = false }: WrkOptions,
): Promise<WrkResult> {
  const file = join(folder, `requests-${randomUUID()}`)
  try {
    await writeFile(file, requests.map((request) => `${Buffer.byteLength(request)}\n${request}`).join(''))
    const limitSeconds = Math.ceil(seconds) + 30
    const { stderr } = await promisify(execFile)('wrk', [
      ...['-t', '1', '-c', String(connections), '-d', `${limitSeconds}s`, '--timeout', '30s'],
      '-s',
      join(import.meta.dirname, 'wrk.lua'),
      origin,
      '--',
      file,
      String(seconds),
      String(connections),
      repeats ? 'repeat' : 'once',
    ])
    const { sent, answered, refused, failed, p50Us, p99Us } = JSON.parse(stderr) as Output
    if ((refused > 0 && !mayRefuse) || failed > 0 || answered !== sent)
      throw new Error(
        `${origin}: ${sent} requests, ${answered} answers, ${refused} of them errors, and ${failed} failures of connections`,
      )
    return {
      sent,
      // The last request of each connection was answered after the time.
      requestsPerSecond: (sent - connections) / seconds,
      p50Ms: p50Us / 1000,
      p99Ms: p99Us / 1000,
    }
  } finally {
    await rm(file, { force: true })
  }
}
