import createFetchClient, {
  type Client as FetchClient,
  type ClientPathsWithMethod,
  type FetchResponse,
  type MaybeOptionalInit,
} from 'openapi-fetch'
import limitConcurrency from 'p-limit'
import type { components, paths } from './api.ts'
import { ApiError } from './errors.ts'
import { createFollow, type EventsPage, type FollowOptions } from './follow.ts'
import { createRetryingFetch, retryWaitMsMaxDefault, type RetryOptions, type Sending } from './retries.ts'

/** The API as one release describes it. A newer service may send further fields, and further values of enumerations. */
export type { components, paths } from './api.ts'
export { ApiError, type ErrorCode } from './errors.ts'
export type { EventDataByType, EventType, WorkspaceEvent } from './events.ts'
export type { EventsPage, FollowOptions } from './follow.ts'
export type { Retry } from './retries.ts'

export interface ClientOptions extends RetryOptions {
  /** Where the service is, such as `https://api.example.com`. */
  baseUrl: string
  /** An API key, such as `process.env.API_KEY`. `createClient` throws if it is undefined or empty. */
  apiKey: string | undefined
  /** What sends requests. Default: the global `fetch`. */
  fetch?: ((request: Request) => Promise<Response>) | undefined
  /** How many requests are sent at once; others wait. Default: 8. */
  requestsAtOnceMax?: number | undefined
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
   * Never ends by itself: while the service cannot be reached or does not answer, it tries again, and calls `onRetry`.
   * Throws an `ApiError` when waiting does not help: 401, 403 or 404 when the key or its person has lost access; with
   * the code `cursor_unknown` if the cursor is from a database that was replaced by an older copy, and `cursor_expired` if
   * events behind it are no longer kept: make a new copy from the lists, and follow from `now`; with the code `event_type_unknown` if the service knows none of the types.
   */
  follow(slug: string, options?: FollowOptions): AsyncGenerator<EventsPage, void>
}

/**
 * A client of the service. Requests that fail by the network or for now (408, 429, 500, 502, 503, 504) are sent again,
 * after the time that the service asks for; each POST has an `Idempotency-Key`, so that it takes effect once. Bodies that
 * are streams can be sent once. At most `requestsAtOnceMax` requests are sent at once. Throws a `TypeError` without a key.
 */
export function createClient({
  baseUrl,
  apiKey,
  fetch = (request) => globalThis.fetch(request),
  requestsAtOnceMax = 8,
  ...retryOptions
}: ClientOptions): Client {
  if (!apiKey) throw new TypeError('apiKey is missing: is the environment variable with the API key set?')
  // Not while it waits to send a request again, so that others are sent meanwhile.
  const limit = limitConcurrency(requestsAtOnceMax)
  const retrying = createRetryingFetch(
    (request, { isStreamed }) =>
      limit(async () => {
        const response = await fetch(request)
        return isStreamed && response.ok ? response : readWhole(response)
      }),
    retryOptions,
  )
  const client = createFetchClient<paths>({ baseUrl, headers: { authorization: `Bearer ${apiKey}` } })

  // The type of the method says what it takes and returns; openapi-fetch has the same for its own methods.
  async function send(
    method: Method,
    path: string,
    options: { body?: unknown; parseAs?: string; params?: object } = {},
    sending: Sending = {},
  ): Promise<{ data: unknown; response: Response }> {
    const request = client.request as (
      method: Method,
      path: string,
      options: object,
    ) => Promise<{ data?: unknown; error?: unknown; response: Response }>
    const { data, error, response } = await request(method, path, {
      fetch: (request: Request) =>
        retrying.send(request, {
          isRepeatable: !isStream(options.body),
          isStreamed: options.parseAs === 'stream',
          ...sending,
        }),
      ...options,
    })
    if (!response.ok) throw new ApiError(response, error, retrying.mayHaveHappened(response))
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

  return {
    get: call('get'),
    post: call('post'),
    put: call('put'),
    patch: call('patch'),
    delete: call('delete'),
    list: list as Client['list'],
    follow: createFollow(
      (path, options, sending) => send('get', path, options, sending),
      retryOptions.retryWaitMsMax ?? retryWaitMsMaxDefault,
    ),
  }
}

/** Reads the body, so that a connection that breaks meanwhile is a failure of the request, which is sent again. */
async function readWhole(response: Response): Promise<Response> {
  return response.body === null ? response : new Response(await response.arrayBuffer(), response)
}

function isStream(body: unknown): boolean {
  return (
    body instanceof ReadableStream ||
    (typeof body === 'object' && body !== null && Symbol.asyncIterator in body)
  )
}

/** The cursor of the next page (RFC 8288), if there is one. */
function nextCursorOf({ headers }: Response): string | undefined {
  const next = /<([^>]*)>\s*;\s*rel="?next"?/.exec(headers.get('link') ?? '')?.[1]
  return next === undefined ? undefined : (new URLSearchParams(next.split('?')[1]).get('cursor') ?? undefined)
}

/** The schemas of the API by their names: `Schema<'Workspace'>`. */
export type Schema<Name extends keyof components['schemas']> = components['schemas'][Name]
