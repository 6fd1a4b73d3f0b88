import { Type, type TAny, type TProperties, type TSchema, type TString } from '@sinclair/typebox'
import type { ErrorFactory } from '../../kernel/errors.ts'
import { closed, ref } from '../../kernel/schemas.ts'
import { pageQuery } from '../answers/pagination.ts'
import { Ok } from './schemas.ts'

/** What an operation is, as its area declares it. */
export interface OperationDeclaration {
  /** `area.verb`: the area is the OpenAPI tag and the folder that the operation lives in. */
  id: `${string}.${string}`
  /** One line. */
  summary: string
  /** What the summary does not say, in Markdown. */
  description: string
  params?: TSchema
  querystring?: TSchema
  headers?: TSchema
  body?: TSchema
  /** The body of the 200 answer. Default: `{ok: true}`. */
  success?: TSchema
  /** What the 200 answer contains, in a sentence. Only an operation that answers `{ok: true}` needs none. */
  returns?: string
  /** The errors that its service throws. Those of the credential, the request's form and the like are added to them. */
  errors?: readonly ErrorFactory[]
  /**
   * Whether its parameters and its errors 400, 401, 403, 404, 409 and 500 are described in place, not by reference, and
   * the errors whether or not they occur. The first operations of version 1.0.0 promise it
   * (docs/design/errors.md#declared-errors).
   */
  inPlace?: boolean
}

declare module 'fastify' {
  /** What only the API description reads of a route's schema. */
  interface FastifySchema {
    returns?: string
    errors?: readonly ErrorFactory[]
    inPlace?: boolean
  }
}

/** The Fastify route schema of an operation: it validates, serializes, types the handler and documents. */
export type OperationSchema<D extends OperationDeclaration> = Pick<
  D,
  Extract<keyof D, 'params' | 'querystring' | 'headers' | 'body'>
> & {
  operationId: D['id']
  tags: string[]
  summary: string
  description: string
  returns?: string
  errors?: readonly ErrorFactory[]
  inPlace?: boolean
  response: { 200: D extends { success: infer S } ? S : typeof okSchema }
}

const okSchema = ref(Ok)

/** Turns the declaration of an operation into a Fastify route schema. http/description/openapi.ts describes its answers. */
export function operation<const D extends OperationDeclaration>(declaration: D): OperationSchema<D> {
  const { id, success, ...rest } = declaration
  return {
    // An unknown query parameter is refused, so that a misspelt filter does not pass for none.
    querystring: closed({}),
    returns: 'The change was made.',
    ...rest,
    operationId: id,
    tags: [id.slice(0, id.indexOf('.'))],
    response: { 200: success ?? okSchema },
  } as unknown as OperationSchema<D>
}

/** The media types of responses that are sent while they are read. */
const streamTypes = {
  'text/event-stream': 'Server-sent events (WHATWG HTML, section 9.2).',
  'application/x-ndjson': 'A JSON object in each line.',
  'text/csv': 'CSV (RFC 4180) in UTF-8, with a byte order mark.',
}

/** Turns the declaration of a stream, by default of server-sent events, into a Fastify route schema. */
export function streamOperation<const D extends Omit<OperationDeclaration, 'body' | 'success'>>(
  declaration: D,
  { example, type = 'text/event-stream' }: { example: string; type?: keyof typeof streamTypes },
) {
  const stream = { schema: { type: 'string', description: streamTypes[type] }, example }
  return {
    ...operation(declaration),
    // The handler sends a stream, which is not serialized.
    response: { 200: { content: { [type]: stream } } as unknown as TAny },
  }
}

/** Turns the declaration of a file that is downloaded into a Fastify route schema. */
export function fileOperation<const D extends Omit<OperationDeclaration, 'body' | 'success'>>(
  declaration: D,
) {
  const content = { schema: { type: 'string', format: 'binary', description: 'The bytes of the file.' } }
  return {
    ...operation(declaration),
    // The handler sends a stream, which is not serialized.
    response: { 200: { content: { '*/*': content } } as unknown as TAny },
  }
}

/** Turns the declaration of a list that comes in pages of `item` into a Fastify route schema. */
export function listOperation<
  const D extends Omit<OperationDeclaration, 'querystring' | 'body' | 'success'>,
  Item extends TSchema,
  Filters extends TProperties,
>(declaration: D, { item, filters }: { item: Item; filters?: Filters }) {
  return operation({
    ...declaration,
    querystring: closed({ ...pageQuery, ...(filters ?? ({} as Filters)) }),
    success: Type.Array(ref(item)),
  })
}

/** The path parameters that mean the same wherever they are. */
const pathParameters = {
  slug: 'The slug of the workspace, or one that it had in the last 90 days.',
  userId: 'The id of the person.',
  teamId: 'The id of the team.',
  labelId: 'The id of the label.',
  filterId: 'The id of the saved filter.',
  inviteId: 'The id of the invite.',
  workspaceId: 'The id of the workspace.',
  token: 'The token of the invite: the last part of its link.',
  eventId: 'The id of the event.',
  attachmentId: 'The id of the file.',
  importId: 'The id of the import.',
  evidenceId: 'The id of the evidence.',
  commentId: 'The id of the comment.',
  agentRequestId: 'The id of the request.',
  webhookId: 'The id of the webhook.',
  serviceAccountId: 'The id of the service account.',
  serviceClientId: 'The `id` of the client.',
  deliveryId: 'The `id` of the delivery.',
  apiKeyId: 'The id of the API key. It is no secret.',
}

/** The path parameters of these names, with their descriptions. */
export function pathParams<Name extends keyof typeof pathParameters>(...names: Name[]) {
  const properties = names.map((name) => [name, Type.String({ description: pathParameters[name] })])
  return Type.Object(Object.fromEntries(properties) as Record<Name, TString>)
}

/** The path parameters of what is in a workspace. */
export const slugParams = pathParams('slug')
