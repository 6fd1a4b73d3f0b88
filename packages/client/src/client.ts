import createFetchClient, {
  type Client as FetchClient,
  type ClientPathsWithMethod,
  type FetchResponse,
  type MaybeOptionalInit,
} from 'openapi-fetch'
import limitConcurrency from 'p-limit'
import type { components, paths } from './api.ts'
import { ApiError } from './errors.ts'
import type { WorkspaceEvent } from './events.ts'
import { createRetryingFetch, pause, type RetryOptions } from './retries.ts'

export type { components, paths } from './api.ts'
export { ApiError, type ErrorCode } from './errors.ts'
export type { EventDataByType, EventType, WorkspaceEvent } from './events.ts'

export interface ClientOptions extends RetryOptions {
  /** Where the service is, such as `https://api.example.com`. */
  baseUrl: string
  apiKey: string
  /** What sends requests. Default: the global `fetch`. */
  fetch?: (request: Request) => Promise<Response>
  /** How many requests are sent at once; others wait. Default: 8. */
  requestsAtOnceMax?: number
}

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'
/** The paths of operations with a method. */
type PathOf<M extends Method> = ClientPathsWithMethod<FetchClient<paths>, M>
type Init<Path extends PathOf<M>, M extends Method> = MaybeOptionalInit<paths[Path], M>
type Data<Path extends PathOf<M>, M extends Method, Options> = NonNullable<
  FetchResponse<
    Extract<paths[Path][M], Record<string | number, unknown>>,
    Options,
    `${string}/${string}`
  >['data']
>
/** The options of a call: required when something in them is. */
type Rest<Options> = object extends Options
  ? [options?: Options]
  : undefined extends Options
    ? [options?: Options]
    : [options: Options]

/** Calls an operation by its path. Resolves to the body of the response; throws an `ApiError` for any error. */
export type Call<M extends Method> = <Path extends PathOf<M>, Options extends Init<Path, M>>(
  path: Path,
  ...options: Rest<Options>
) => Promise<Data<Path, M, Options>>

/** The paths of lists that come in pages. */
export type ListPath = {
  [Path in PathOf<'get'>]: paths[Path] extends {
    get: {
      parameters: { query?: { cursor?: string } }
      responses: { 200: { content: { 'application/json': unknown[] } } }
    }
  }
    ? Path
    : never
}[PathOf<'get'>]

type Item<Path extends ListPath> = paths[Path] extends {
  get: { responses: { 200: { content: { 'application/json': (infer Row)[] } } } }
}
  ? Row
  : never

/** New events of a workspace, oldest first. */
export interface EventsPage {
  events: WorkspaceEvent[]
  /** Goes on after these events. Store it when they have been processed. */
  cursor: string
}

export interface FollowOptions {
  /** The cursor to go on from; `now` for what happens from now on. Default: from the first event on. */
  after?: string
  /** Only events of these types. Those that the service does not know are left out, with a warning. */
  types?: readonly WorkspaceEvent['type'][]
  /** Receives warnings. Default: `console.warn`. */
  onWarning?: (message: string) => void
  /** How long to wait when there is nothing new, in milliseconds. Default: 2,000. */
  intervalMs?: number
  /** Ends the loop without an error. */
  signal?: AbortSignal
}

export interface Client {
  get: Call<'get'>
  post: Call<'post'>
  put: Call<'put'>
  patch: Call<'patch'>
  delete: Call<'delete'>
  /** All items of a list, page by page, as they are asked for: `for await (const member of client.list(…))`. */
  list<Path extends ListPath, Options extends Init<Path, 'get'>>(
    path: Path,
    ...options: Rest<Options>
  ): AsyncGenerator<Item<Path>, void>
  /**
   * The events of a workspace as they happen, in pages that are not empty: `for await (const page of client.follow(…))`.
   * Never ends by itself. Throws an `ApiError` with the code `cursor_unknown` if the cursor is from a database that was
   * replaced by an older copy: begin again from the start, or from `now`; with the code `event_type_unknown` if the
   * service knows none of the types.
   */
  follow(slug: string, options?: FollowOptions): AsyncGenerator<EventsPage, void>
}

/**
 * A client of the service. Requests that fail by the network, or that are refused for now (429, 503), are sent again
 * after the time that the service asks for. At most `requestsAtOnceMax` are sent at once. Each POST has an `Idempotency-Key`, so that it takes effect once.
 */
export function createClient({
  baseUrl,
  apiKey,
  fetch = (request) => globalThis.fetch(request),
  requestsAtOnceMax = 8,
  ...retryOptions
}: ClientOptions): Client {
  // Not while it waits to send a request again, so that others are sent meanwhile.
  const limit = limitConcurrency(requestsAtOnceMax)
  const client = createFetchClient<paths>({
    baseUrl,
    fetch: createRetryingFetch((request) => limit(() => fetch(request)), retryOptions),
    headers: { authorization: `Bearer ${apiKey}` },
  })

  // The type of the method says what it takes and returns; openapi-fetch has the same for its own methods.
  async function send(
    method: Method,
    path: string,
    options: object = {},
  ): Promise<{ data: unknown; response: Response }> {
    const request = client.request as (
      method: Method,
      path: string,
      options: object,
    ) => Promise<{ data?: unknown; error?: unknown; response: Response }>
    const { data, error, response } = await request(method, path, options)
    if (!response.ok) throw new ApiError(response, error)
    return { data, response }
  }
  const call = <M extends Method>(method: M) =>
    (async (path: string, options?: object) => (await send(method, path, options)).data) as Call<M>

  async function* list(path: string, options: { params?: { query?: object } } = {}) {
    for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
      const query = { ...options.params?.query, ...(cursor !== undefined && { cursor }) }
      const { data, response } = await send('get', path, { ...options, params: { ...options.params, query } })
      yield* data as unknown[]
      cursor = nextCursorOf(response)
    }
  }

  const get = call('get')

  const readChanges = (slug: string, query: { after?: string; types?: string[] }, signal?: AbortSignal) =>
    get('/v1/workspaces/{slug}/events/changes', {
      params: { path: { slug }, query },
      ...(signal && { signal }),
    })

  /** The types that the service does not refuse: it says that it refuses one, but not which. */
  async function findKnownTypes<T extends string>(slug: string, types: readonly T[]): Promise<T[]> {
    const known = await Promise.all(
      types.map((type) =>
        readChanges(slug, { after: 'now', types: [type] }).then(
          () => true,
          (error: unknown) => {
            if (isTypeUnknown(error)) return false
            throw error
          },
        ),
      ),
    )
    return types.filter((_type, i) => known[i])
  }

  return {
    get,
    post: call('post'),
    put: call('put'),
    patch: call('patch'),
    delete: call('delete'),
    list: list as Client['list'],
    async *follow(slug, options = {}) {
      const { after, intervalMs = 2_000, signal, onWarning = (message) => console.warn(message) } = options
      let { types } = options
      const isEnded = () => signal?.aborted === true
      for (let cursor = after; !isEnded();) {
        const query = {
          ...(cursor !== undefined && { after: cursor }),
          ...(types && { types: [...types] }),
        }
        let page
        try {
          page = await readChanges(slug, query, signal)
        } catch (error) {
          if (isEnded()) return
          const known = isTypeUnknown(error) && types ? await findKnownTypes(slug, types) : []
          if (known.length === 0) throw error
          const unknown = types?.filter((type) => !known.includes(type)).join(', ')
          onWarning(`The service does not know these types of events, which are left out: ${unknown}.`)
          types = known
          continue
        }
        cursor = page.cursor
        if (page.events.length > 0) yield { events: page.events as WorkspaceEvent[], cursor }
        if (!page.hasMore) await pause(intervalMs, signal)
      }
    },
  }
}

function isTypeUnknown(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'event_type_unknown'
}

/** The cursor of the next page (RFC 8288), if there is one. */
function nextCursorOf({ headers, url }: Response): string | undefined {
  const next = /<([^>]*)>\s*;\s*rel="?next"?/.exec(headers.get('link') ?? '')?.[1]
  return next === undefined ? undefined : (new URL(next, url).searchParams.get('cursor') ?? undefined)
}

/** The schemas of the API by their names: `Schema<'Workspace'>`. */
export type Schema<Name extends keyof components['schemas']> = components['schemas'][Name]
