import { errors, type KoaContextWithOIDC } from 'oidc-provider'
import type { Logger } from 'pino'
import { toAskedScopes } from '../../domain/agent.ts'
import { errors as catalogue } from '../../kernel/errors.ts'
import type { Answers } from './answers.ts'
import { DocumentGone, findDocumentError } from './documents/kept-documents.ts'
import {
  canonicalResource,
  databaseRetryAfterSeconds,
  documentRetryAfterSeconds,
  offlineScope,
  parameterLengthMax,
  paths,
  serviceGrantType,
} from './protocol.ts'

/** An error of the authorization endpoint (RFC 6749 §4.1.2.1), for the person. Its texts may come from the request. */
export interface Failure {
  status: number
  error: string
  description: string
  /** What is wrong with the metadata document of the client, and the host that the client's id names. */
  document?: { problem: 'unreachable' | 'off'; host: string }
}

/** Whose tokens a request is about, as far as it is known. */
export interface TokenRequest {
  clientId?: string | undefined
  grantId?: string | undefined
  /** Whether the client is that of a service account. */
  isService?: boolean
}

/** New authorizations of clients with a metadata document are off. */
export class DocumentsOff extends errors.InvalidClient {
  readonly host: string

  constructor(clientId: string) {
    super('client_id metadata documents are not accepted here. Register the client.')
    this.host = new URL(clientId).host
  }
}

/** What the person is told of an error of oidc-provider. */
export function describeFailure(
  out: { error: string; error_description?: string | undefined },
  cause: Error | undefined,
): Omit<Failure, 'status'> {
  const { error, error_description: description = '' } = out
  if (cause instanceof DocumentsOff)
    return { error, description, document: { problem: 'off', host: cause.host } }
  const unreachable = findDocumentError(cause)
  return unreachable
    ? {
        error: 'temporarily_unavailable',
        description: unreachable.message,
        document: { problem: 'unreachable', host: unreachable.host },
      }
    : { error, description }
}

/**
 * Accepts requests as clients send them. Unknown scopes and those that agents cannot ask for are ignored, the one that every grant has is added, and other spellings of the
 * resource are accepted. The consent page always shows the account and offers another one, as `select_account` asks.
 * Parameters without an effect, such as hints of OpenID Connect, are removed, since they would be stored with the request.
 */
export function normalizeAuthorizationRequest(ctx: KoaContextWithOIDC, resource: string): void {
  const { scope, resource: indicator, prompt, ...others } = ctx.query
  const rest = Object.fromEntries(Object.entries(others).filter(([name]) => name in parameterLengthMax))
  const asked = [scope].flat().join(' ').split(' ')
  const known = [...toAskedScopes(asked), ...(asked.includes(offlineScope) ? [offlineScope] : [])]
  ctx.query = {
    ...rest,
    scope: known.join(' '),
    ...(indicator !== undefined && { resource: canonicalResource(indicator, resource) }),
    ...(typeof prompt === 'string' && { prompt: prompt.replace(/\bselect_account\b/, 'consent') }),
    ...(Array.isArray(prompt) && { prompt }),
  }
}

/** Tells a client that was deleted, or never registered, what to do: most programs stop at `invalid_client`. */
export function explainUnknownClient(ctx: KoaContextWithOIDC, baseUrl: string): void {
  const body = ctx.body as { error?: string } | undefined
  const oidc = ctx.oidc as typeof ctx.oidc | undefined
  if (body?.error !== 'invalid_client' || ctx.status !== 401 || oidc?.client) return
  const { grant_type: grantType } = (oidc?.body ?? {}) as { grant_type?: unknown }
  if (grantType === serviceGrantType) {
    ctx.body = {
      ...body,
      error_description:
        'This client does not exist. An owner or admin of the workspace can create one for a service account.',
    }
    return
  }
  const description =
    `This client is not registered here any longer. Register it again at ${baseUrl}${paths.registration} (RFC 7591), ` +
    'and ask for authorization again.'
  ctx.body = { ...body, error_description: description }
}

/** Whether a request has issued or revoked tokens. An unknown token is revoked with success too (RFC 7009 §2.2). */
export function isAccepted({ path, status, oidc }: KoaContextWithOIDC): boolean {
  if (status !== 200) return false
  return path === paths.token || (path === paths.revocation && oidc.entities.RefreshToken !== undefined)
}

/** Redirects to the answer of the request, which is that of the first redirect to the client. */
export async function settleAnswer(
  ctx: KoaContextWithOIDC,
  { answers, webUrl }: { answers: Answers; webUrl: string },
  fail: (ctx: KoaContextWithOIDC, failure: Omit<Failure, 'status'>) => void,
): Promise<void> {
  if (!ctx.path.startsWith(`${paths.authorization}/`)) return
  const { Interaction: interaction } = ctx.oidc.entities
  const redirect = ctx.response.get('location')
  if (!interaction || redirect === '') return
  // The grant was revoked meanwhile: the person is asked again.
  if (redirect.startsWith(`${webUrl}${paths.consent}/`)) return
  const answer = await answers.settle(interaction.uid, redirect)
  if (answer === redirect) return
  if (await answers.isUsed(answer)) {
    ctx.status = 400
    fail(ctx, { error: 'invalid_request', description: 'You have already answered this request.' })
  } else {
    ctx.redirect(answer)
  }
}

/**
 * Answers a client whose document or keys cannot be fetched as one that may try again: at `invalid_client` many programs
 * delete their tokens. That error stays for a document that has been gone for long.
 */
export function answerUnreachable(
  ctx: Pick<KoaContextWithOIDC, 'status' | 'set' | 'body'>,
  error: Error,
): void {
  const unreachable = findDocumentError(error)
  if (!unreachable || unreachable instanceof DocumentGone) return
  ctx.status = 503
  ctx.set('retry-after', String(documentRetryAfterSeconds))
  ctx.body = {
    error: 'temporarily_unavailable',
    error_description: 'What the client has published could not be fetched. Try again later.',
  }
}

/** Replaces the server's `server_error` by one that clients retry. */
export function answerUnavailable(ctx: KoaContextWithOIDC, log: Logger, cause: Error): void {
  const { message } = catalogue.databaseUnavailable
  log.warn({ err: cause }, 'request refused')
  // The server redirects the browser to the client, with the error in the URL.
  if (ctx.path === paths.authorization) return
  ctx.status = 503
  ctx.set('retry-after', String(databaseRetryAfterSeconds))
  ctx.body = { error: 'temporarily_unavailable', error_description: message }
}
