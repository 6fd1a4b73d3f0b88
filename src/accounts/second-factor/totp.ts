// Loaded on first use, since most people have no authenticator app.
const load = () => import('otplib')

/** The name of the service in authenticator apps. */
const issuer = 'Workspace'
const stepSeconds = 30

/** Creates a secret for an authenticator app: 160 random bits in base32 (RFC 4226 §4). */
export async function createTotpSecret(): Promise<string> {
  const { generateSecret } = await load()
  return generateSecret()
}

/** The `otpauth:` URI of a secret, which authenticator apps read from a QR code. */
export async function totpUriOf(secret: string, email: string): Promise<string> {
  const { generateURI } = await load()
  return generateURI({ issuer, label: email, secret })
}

/**
 * Finds the time step of a code (RFC 6238): the current one, or the one before or after, since clocks differ. Undefined
 * for a wrong code. The caller compares it with the last step that was used.
 */
export async function findTotpStep(secret: string, text: string, now: Date): Promise<number | undefined> {
  // Apps show two groups of three digits.
  const code = text.replaceAll(/\s/g, '')
  if (!/^\d{6}$/.test(code)) return undefined
  const { verifySync } = await load()
  const epoch = Math.floor(now.getTime() / 1000)
  const result = verifySync({ secret, token: code, epoch, period: stepSeconds, epochTolerance: stepSeconds })
  return result.valid ? Math.floor(epoch / stepSeconds) + result.delta : undefined
}
