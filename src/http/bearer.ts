const scheme = 'bearer '

/**
 * The token of an `Authorization` header of the Bearer scheme (RFC 6750 §2.1), whose name may be in any case (RFC 9110
 * §11.1). Undefined for another scheme, and for a value that has white space within. May be empty. Takes time linear in
 * the header, which anybody can send.
 */
export function readBearerToken(authorization: string | undefined): string | undefined {
  if (authorization?.slice(0, scheme.length).toLowerCase() !== scheme) return undefined
  const token = authorization.slice(scheme.length).trim()
  return /\s/.test(token) ? undefined : token
}
