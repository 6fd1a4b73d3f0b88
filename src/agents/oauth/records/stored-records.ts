import type { AdapterPayload } from 'oidc-provider'
import { hashSecret } from '../../../kernel/tokens.ts'

// The ids of these records are secrets.
const secretKinds = new Set(['AccessToken', 'AuthorizationCode', 'Interaction', 'RefreshToken', 'Session'])

/** The key under which a record is stored. */
export function keyOf(kind: string, id: string): string {
  return secretKinds.has(kind) ? hashSecret(id).toString('base64url') : id
}

/** How many exchanges were before a refresh token; null for other kinds. */
export function generationOf(kind: string, { rotations }: AdapterPayload): number | null {
  return kind === 'RefreshToken' ? (rotations ?? 0) : null
}

/** What is stored of a payload: all but a secret id, and the hash of a client's secret. */
export function toStored(kind: string, payload: AdapterPayload): AdapterPayload {
  const { jti, ...rest } = payload
  if (secretKinds.has(kind)) return rest
  const { client_secret: secret } = rest
  return { ...rest, jti, ...(secret !== undefined && { client_secret: hashClientSecret(secret) }) }
}

/** Hashes the secret of a client, which the OAuth server has generated, for storage. */
export function hashClientSecret(secret: string): string {
  return `sha256:${hashSecret(secret).toString('hex')}`
}

/** The payload of a stored record, as oidc-provider saved it. */
export function toPayload(
  kind: string,
  id: string,
  { payload, consumedAt }: { payload: Record<string, unknown>; consumedAt: Date | null },
): AdapterPayload {
  return {
    ...(payload as AdapterPayload),
    ...(secretKinds.has(kind) && { jti: id }),
    ...(consumedAt && { consumed: Math.floor(consumedAt.getTime() / 1000) }),
  }
}

/** A refresh token or a grant with the scopes that the person allows now, which may have changed since it was stored. */
export function withScopes(payload: AdapterPayload, scopes: readonly string[] | null): AdapterPayload {
  if (!scopes) return payload
  const scope = scopes.join(' ')
  const { openid, resources = {} } = payload as { openid?: object; resources?: object }
  return {
    ...payload,
    ...('scope' in payload && { scope }),
    ...(openid && { openid: { ...openid, scope } }),
    resources: Object.fromEntries(Object.keys(resources).map((name) => [name, scope])),
  }
}
