import { createPublicKey, type JsonWebKeyInput } from 'node:crypto'
import { errors } from '../../kernel/errors.ts'

/** The most keys that a client can give: the one in use, and those that take its place. */
export const keysMax = 5

const bytesMax = 8192
const rsaBitsMin = 2048
/** What of a key is public (RFC 7518 §6, RFC 8037 §2). */
const publicMembers = ['kty', 'crv', 'x', 'y', 'n', 'e', 'kid', 'alg', 'use']
/** What only private and symmetric keys have. */
const secretMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'k']

/** The public keys of a client, reduced to what is public. Throws `client_keys_invalid`, also for a key that is not public. */
export function requirePublicKeys({ keys }: { keys: readonly object[] }): { keys: object[] } {
  if (keys.length === 0 || keys.length > keysMax) throw invalid('jwks')
  if (Buffer.byteLength(JSON.stringify(keys)) > bytesMax) throw invalid('jwks')
  return { keys: keys.map(requirePublicKey) }
}

/** An https URL of public keys. Throws `client_keys_invalid`. It is not fetched here, but when the client asks for a token. */
export function requireKeysUrl(text: string): string {
  const url = URL.parse(text)
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '' || url.href.length > 1024)
    throw invalid('jwksUri')
  return url.href
}

function requirePublicKey(key: object): object {
  if (secretMembers.some((name) => name in key)) throw invalid('jwks')
  const entries = Object.entries(key).filter(([name]) => publicMembers.includes(name))
  if (!entries.every(([, value]) => typeof value === 'string')) throw invalid('jwks')
  const jwk = Object.fromEntries(entries) as Record<string, string>
  try {
    const { asymmetricKeyType, asymmetricKeyDetails } = createPublicKey({
      key: jwk as JsonWebKeyInput['key'],
      format: 'jwk',
    })
    const isUsable =
      (asymmetricKeyType === 'ec' && asymmetricKeyDetails?.namedCurve === 'prime256v1') ||
      (asymmetricKeyType === 'rsa' && (asymmetricKeyDetails?.modulusLength ?? 0) >= rsaBitsMin) ||
      asymmetricKeyType === 'ed25519'
    if (isUsable && (jwk.use ?? 'sig') === 'sig') return jwk
  } catch {
    // As for other keys.
  }
  throw invalid('jwks')
}

const invalid = (field: string) => errors.clientKeysInvalid({ field })
