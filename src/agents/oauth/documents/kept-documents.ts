import type { Logger } from 'pino'
import type { Database } from '../../../db/client.ts'
import type { Clock } from '../../../kernel/clock.ts'
import { FetchFailure } from '../../../kernel/fetch-failure.ts'
import { documentBytesMax } from '../protocol.ts'
import { normalizeMetadata } from './client-metadata.ts'
import {
  findKeptDocument,
  findRequestDocument,
  keepFetchedDocument,
  markDocumentGone,
  type DocumentKey,
} from './documents.repository.ts'

const dayMs = 24 * 60 * 60 * 1000
/** How long after it was last fetched a document is used in its place. */
const keptMs = { metadata: 30 * dayMs, keys: dayMs } as const
/** How long a document is used whose host says that there is none. */
const goneMs = dayMs
/** How long a kept document is used before the next attempt to fetch it. */
const keptAnswerSeconds = 300
/** How long keys are used before they are fetched again: a new key of a client works after this time. */
const keysCachedMs = 60_000
const keysCachedMax = 1000

/** The document of a client cannot be fetched, and none is kept. The client may try again. */
export class DocumentUnreachable extends Error {
  override readonly name: string = 'DocumentUnreachable'
  readonly host: string

  constructor(host: string, cause: unknown) {
    super('the document could not be fetched', { cause })
    this.host = host
  }
}

/** The host of a document has said for long enough that there is none. */
export class DocumentGone extends DocumentUnreachable {
  override readonly name = 'DocumentGone'
}

export interface KeptDocumentsOptions {
  db: Database
  clock: Clock
  log: Logger
  /** Whether metadata documents are fetched. If not, those that are kept are used for as long as a grant lasts. */
  areDocumentsOn: boolean
  /** Fetches untrusted URLs. Throws a FetchFailure. */
  fetch: typeof fetch
}

export interface KeptDocuments {
  /**
   * Fetches the metadata document of a client, reduced to what has an effect here, and keeps it for clients that somebody
   * has given access. While it cannot be fetched, responds with the kept one. An authorization request that is answered
   * (`requestUid`) goes on by the document that it was shown with. Throws DocumentUnreachable if there is none that may be
   * used.
   */
  fetchMetadata(
    clientId: string,
    options: { init: RequestInit | undefined; requestUid: string | undefined },
  ): Promise<Response>
  /** Fetches the keys of a client in the same way. They are fetched again after a minute at the earliest. */
  fetchKeys(clientId: string, url: string, options: { init: RequestInit | undefined }): Promise<Response>
}

/**
 * Fetches what clients publish, and keeps it for the time in which their hosts fail (docs/design/agents.md#documents).
 */
export function createKeptDocuments(options: KeptDocumentsOptions): KeptDocuments {
  const { db, clock, log, areDocumentsOn } = options
  // By client, since oidc-provider keeps no keys of clients with a document.
  const cachedKeys = new Map<string, { content: string; until: number }>()

  async function keep(key: DocumentKey, content: string): Promise<void> {
    try {
      await keepFetchedDocument(db, key, { content, now: clock.now() })
    } catch (err) {
      log.warn({ err }, 'a document of a client could not be stored; will retry when it is fetched again')
    }
  }

  /** Reads what is stored. oidc-provider would take an error of the database for one of the client. */
  async function load<Result>({ url }: DocumentKey, run: () => Promise<Result>): Promise<Result> {
    try {
      return await run()
    } catch (err) {
      log.warn({ err }, 'the kept documents of clients could not be read')
      throw new DocumentUnreachable(new URL(url).host, err)
    }
  }

  const findKept = (key: DocumentKey, { status }: FetchFailure) =>
    load(key, () =>
      status === 404 || status === 410 ? markDocumentGone(db, key, clock.now()) : findKeptDocument(db, key),
    )

  /** The kept document, if it may be used in place of the one that cannot be fetched. */
  async function fallBack(key: DocumentKey, failure: FetchFailure): Promise<string> {
    const kept = await findKept(key, failure)
    const { host } = new URL(key.url)
    const now = clock.now().getTime()
    const isGone = kept?.goneSince != null && now - kept.goneSince.getTime() > goneMs
    const isUsable = kept && !isGone && now - kept.fetchedAt.getTime() <= keptMs[key.kind]
    if (!failure.isRemembered) {
      const what = `the ${key.kind} of a client could not be fetched`
      log.warn({ host, reason: failure.reason }, isUsable ? `${what}; what is kept is used` : what)
    }
    if (isUsable) return kept.content
    throw isGone ? new DocumentGone(host, failure) : new DocumentUnreachable(host, failure)
  }

  async function read(
    key: DocumentKey,
    init: RequestInit | undefined,
    prepare: (document: Record<string, unknown>) => { content: Record<string, unknown>; isKept: boolean },
  ): Promise<Response> {
    try {
      const response = await options.fetch(key.url, init)
      const { content, isKept } = prepare(parse(await response.text()))
      const text = JSON.stringify(content)
      if (isKept) await keep(key, text)
      return new Response(text, { headers: response.headers })
    } catch (error) {
      if (!(error instanceof FetchFailure)) throw error
      return respond(await fallBack(key, error))
    }
  }

  return {
    async fetchMetadata(clientId, { init, requestUid }) {
      const key = { clientId, kind: 'metadata', url: clientId } as const
      const shown = requestUid !== undefined && (await load(key, () => findRequestDocument(db, requestUid)))
      if (shown) return respond(JSON.stringify(shown))
      if (areDocumentsOn)
        return read(key, init, (document) => ({
          content: normalizeDocument(document),
          isKept: document.client_id === clientId,
        }))
      const kept = await load(key, () => findKeptDocument(db, key))
      if (kept) return respond(kept.content)
      throw new Error('metadata documents are off')
    },

    async fetchKeys(clientId, url, { init }) {
      const now = clock.now().getTime()
      const name = `${clientId} ${url}`
      const cached = cachedKeys.get(name)
      if (cached && cached.until > now) return respond(cached.content)
      const response = await read({ clientId, kind: 'keys', url }, init, (content) => {
        if (!Array.isArray(content.keys)) throw new FetchFailure('the answer is not a key set')
        return { content, isKept: true }
      })
      const content = await response.text()
      if (cachedKeys.size >= keysCachedMax) cachedKeys.clear()
      cachedKeys.set(name, { content, until: now + keysCachedMs })
      return new Response(content, { headers: response.headers })
    },
  }
}

/** What oidc-provider has to see of a document. It refuses those of other clients and those with a secret. */
function normalizeDocument(document: Record<string, unknown>): Record<string, unknown> {
  const checked = ['client_id', 'client_secret', 'client_secret_expires_at']
  const kept = Object.entries(document).filter(([name]) => checked.includes(name))
  const normal = { ...Object.fromEntries(kept), ...normalizeMetadata(document, { mayHaveSecret: false }) }
  if (Buffer.byteLength(JSON.stringify(normal)) > documentBytesMax)
    throw new FetchFailure(`the document is larger than ${documentBytesMax} bytes`)
  return normal
}

/** Hosts that keep programs out often answer 200 with a page. */
function parse(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>
  } catch {
    // As for other values.
  }
  throw new FetchFailure('the answer is not a JSON object')
}

function respond(content: string): Response {
  return new Response(content, { headers: { 'cache-control': `max-age=${keptAnswerSeconds}` } })
}

/** Finds an error of a document among the causes of one of oidc-provider. */
export function findDocumentError(error: unknown): DocumentUnreachable | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof DocumentUnreachable) return cause
  return undefined
}
