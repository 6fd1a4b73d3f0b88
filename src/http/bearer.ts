const scheme = 'bearer '

/**
 * The token of an `Authorization` header with the Bearer scheme (RFC 6750 §2.1), in any case (RFC 9110 §11.1); it may
 * be empty. Undefined for another scheme, or if the token contains white space. Runs in linear time, since the header
 * is untrusted.
 */
export function readBearerToken(authorization: string | undefined): string | undefined {
  if (authorization?.slice(0, scheme.length).toLowerCase() !== scheme) return undefined
  const token = authorization.slice(scheme.length).trim()
  return /\s/.test(token) ? undefined : token
}
