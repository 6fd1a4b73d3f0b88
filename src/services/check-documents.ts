import { listKeptUrls } from '../agents/oauth/documents/documents.repository.ts'
import type { Database } from '../db/client.ts'
import { FetchFailure } from '../kernel/fetch-failure.ts'
import type { Finding } from './finding.ts'

const hostsMax = 20

/**
 * Tries each host of which the service keeps documents of agents that have access, by one of them. It tries no other host.
 */
export async function checkDocuments(
  db: Database,
  { fetch: fetchDocument, areDocumentsOn }: { fetch: typeof fetch; areDocumentsOn: boolean },
): Promise<Finding[]> {
  const kept = (await listKeptUrls(db)).filter(({ kind }) => areDocumentsOn || kind === 'keys')
  const byHost = new Map(kept.map((document) => [new URL(document.url).host, document]))
  return Promise.all(
    [...byHost].slice(0, hostsMax).map(async ([host, { url, fetchedAt }]) => {
      try {
        await fetchDocument(url)
        return {
          check: 'agents',
          ok: true,
          message: `${host} answers with what agents have published there.`,
        }
      } catch (error) {
        const reason = error instanceof FetchFailure ? error.reason : String(error)
        const message =
          `${host} cannot be reached: ${reason}. Its agents go on by what was fetched at ${fetchedAt.toISOString()}, ` +
          'for 30 days at most, by keys for a day. Let the service reach the host, or set OUTGOING_PROXY.'
        return { check: 'agents', ok: false, message }
      }
    }),
  )
}
