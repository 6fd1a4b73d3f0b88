import type { Executor } from '../../db/client.ts'
import type { Clock } from '../../kernel/clock.ts'
import { errors } from '../../kernel/errors.ts'
import { hashSecret } from '../../kernel/tokens.ts'
import { useChallenge } from './passkeys.repository.ts'
import type { SecretBox } from '../../platform/secrets/app-secret.port.ts'
import { parseCredential, type NewCredential, type WebAuthn } from './webauthn.ts'

/** A challenge for the browser. */
export interface PasskeyChallenge {
  /** For `navigator.credentials`. */
  options: object
  /** The challenge, encrypted. The browser sends it back with its answer. */
  ticket: string
}

/** The answer of the browser to a challenge. */
export interface PasskeyAnswer {
  ticket: string
  /** JSON of the credential. */
  credential: string
}

/** A challenge that was sent to a browser, which keeps it encrypted until it answers. */
export interface PasskeyTicket {
  challenge: string
  /** The person who registers a passkey; null for the use of one. */
  userId: string | null
  expiresAt: number
}

const challengeLifetimeMs = 5 * 60 * 1000

/** Challenges of passkeys. Each can be answered once, within five minutes. All throw `passkey_refused`. */
export interface PasskeyTickets {
  create(challenge: string, userId: string | null): string
  /** Opens a ticket that was created for the same person, or with undefined for any person. */
  open(text: string, userId: string | null | undefined): PasskeyTicket
  /** Uses the challenge, in the transaction of what it allows. */
  use(tx: Executor, ticket: PasskeyTicket): Promise<void>
}

export function createPasskeyTickets(options: { clock: Clock; secretBox: SecretBox }): PasskeyTickets {
  const { clock, secretBox } = options
  return {
    create(challenge, userId) {
      const expiresAt = clock.now().getTime() + challengeLifetimeMs
      const ticket: PasskeyTicket = { challenge, userId, expiresAt }
      return secretBox.seal(JSON.stringify(ticket)).toString('base64url')
    },

    open(text, userId) {
      const opened = secretBox.open(Buffer.from(text, 'base64url'))
      const ticket = opened === undefined ? undefined : (JSON.parse(opened) as PasskeyTicket)
      const isOf = userId === undefined || ticket?.userId === userId
      if (!ticket || !isOf || ticket.expiresAt <= clock.now().getTime()) throw errors.passkeyRefused()
      return ticket
    },

    async use(tx, { challenge, expiresAt }) {
      const row = { challengeHash: hashSecret(challenge), expiresAt: new Date(expiresAt) }
      if (!(await useChallenge(tx, row))) throw errors.passkeyRefused()
    },
  }
}

/** Verifies the answer of a browser that has created a passkey. Throws `passkey_refused`. */
export async function verifyCreation(
  webAuthn: WebAuthn,
  json: string,
  { challenge }: PasskeyTicket,
): Promise<NewCredential> {
  const credential = parseCredential(json)
  const created = credential && (await webAuthn.verifyRegistration(credential, challenge))
  if (!created) throw errors.passkeyRefused()
  return created
}
