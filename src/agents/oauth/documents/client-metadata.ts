import { cleanLine, nameLengthMax } from '../../../kernel/text.ts'
import { clientAuthMethods, grantTypes } from '../protocol.ts'

const keys = ['jwks_uri', 'jwks']
/** Which oidc-provider takes only from clients that always authenticate with a key. */
const keyAlgorithm = 'token_endpoint_auth_signing_alg'

/** The metadata of clients that have an effect here, besides their id (RFC 7591 §2). */
const knownMetadata = [
  'redirect_uris',
  'client_name',
  'client_uri',
  'logo_uri',
  'software_id',
  'software_version',
  'grant_types',
  'response_types',
  'token_endpoint_auth_method',
  keyAlgorithm,
  ...keys,
]
/** The methods of clients without a secret, the best first. */
const methodsWithoutSecret: readonly unknown[] = ['private_key_jwt', 'none']

/**
 * Makes the metadata of a client as this service needs it, registered or in a document. RFC 7591 §2 lets the server replace
 * values: null and empty values count as absent, unknown metadata and scopes are removed, and unsupported grant types
 * replaced. What is wrong with the rest, oidc-provider says. The keys of a client with the method `none` are kept if it lists
 * `private_key_jwt` too: it authenticates by either (`acceptKeysOfPublicClients`).
 */
export function normalizeMetadata(
  metadata: Readonly<Record<string, unknown>>,
  { mayHaveSecret }: { mayHaveSecret: boolean },
): Record<string, unknown> {
  const given = new Map(Object.entries(metadata).filter(([, value]) => value !== null && value !== ''))
  const method = chooseMethod(given, mayHaveSecret ? clientAuthMethods : methodsWithoutSecret)
  const mayUseKey = method === 'none' && listMethods(given).includes('private_key_jwt')
  const unused = method === 'private_key_jwt' ? [] : mayUseKey ? [keyAlgorithm] : [...keys, keyAlgorithm]
  const known = knownMetadata.filter((name) => !unused.includes(name))
  const types = given.get('grant_types')
  const asked = Array.isArray(types)
    ? types.filter((type) => (grantTypes as readonly unknown[]).includes(type))
    : []
  return {
    ...Object.fromEntries(known.filter((name) => given.has(name)).map((name) => [name, given.get(name)])),
    application_type: 'native',
    // Explicit, since oidc-provider would give a secret to clients without a method.
    token_endpoint_auth_method: method,
    grant_types: asked.includes('authorization_code') ? asked : [...grantTypes],
    response_types: ['code'],
  }
}

/**
 * The method of authentication: the one that the client names, if it is known here, or else the best of those that it
 * lists (OpenID Connect Relying Party Metadata Choices 1.0).
 */
function chooseMethod(given: ReadonlyMap<string, unknown>, known: readonly unknown[]): unknown {
  const named = given.get('token_endpoint_auth_method')
  const listed = listMethods(given)
  const hasKeys = given.has('jwks') || given.has('jwks_uri')
  const isUsable = (method: unknown) => method !== 'private_key_jwt' || hasKeys
  if (known.includes(named) && isUsable(named)) return named
  const best = methodsWithoutSecret.find((method) => listed.includes(method) && isUsable(method))
  return best ?? named ?? 'none'
}

function listMethods(given: ReadonlyMap<string, unknown>): readonly unknown[] {
  const list = given.get('token_endpoint_auth_methods_supported')
  return Array.isArray(list) ? list : []
}

/** The name of a client for people, who are shown what it says of itself. */
export function nameOfClient(clientName: string | undefined): string {
  return cleanLine(clientName ?? '', nameLengthMax) ?? 'An unnamed application'
}
