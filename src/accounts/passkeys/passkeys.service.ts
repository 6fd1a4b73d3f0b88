import { lockUser } from '../../users/users.repository.ts'
import { requireLiveCredential } from '../../access/live-credential.repository.ts'
import type { Database, Executor } from '../../db/client.ts'
import type { Clock } from '../../kernel/clock.ts'
import { errors } from '../../kernel/errors.ts'
import { createId, isId } from '../../kernel/ids.ts'
import type { Principal } from '../../domain/principal.ts'
import { requireLabel } from '../../kernel/text.ts'
import type { JobQueue } from '../../platform/jobs/jobs.port.ts'
import {
  deletePasskey,
  findPasskey,
  insertPasskey,
  listPasskeys,
  recordPasskeyUse,
  renamePasskey,
  type PasskeyRow,
} from './passkeys.repository.ts'
import {
  createPasskeyTickets,
  verifyCreation,
  type PasskeyAnswer,
  type PasskeyChallenge,
} from './passkey-tickets.ts'
import { proveSession } from '../sessions/prove-session.ts'
import type { SecretBox } from '../../platform/secrets/app-secret.port.ts'
import { startSession, type Browser, type StartedSession } from '../sign-in/start-session.ts'
import { parseCredential, type WebAuthn } from './webauthn.ts'

/** The most passkeys that one person may have. */
export const passkeysMax = 20

export interface Passkey {
  id: string
  name: string
  createdAt: string
  lastUsedAt: string | null
}

export type { PasskeyAnswer, PasskeyChallenge }

/** Passkeys. Each challenge can be answered once, within five minutes. All that take an answer throw `passkey_refused`. */
export interface PasskeysService {
  list(principal: Principal): Promise<Passkey[]>
  beginRegistration(principal: Principal): Promise<PasskeyChallenge>
  /** Returns the name. Throws `label_invalid` and `passkey_limit`. */
  register(principal: Principal, answer: PasskeyAnswer & { name: string }): Promise<string>
  /** Returns the new name. Throws `label_invalid`, and `not_found` if it is not the caller's. */
  rename(principal: Principal, id: string, name: string): Promise<string>
  /** Returns the name. Throws `not_found` if it is not the caller's. */
  remove(principal: Principal, id: string): Promise<string>
  beginUse(): Promise<PasskeyChallenge>
  /** Signs in; returns the token of the new session. A passkey verifies its user, so no second step follows. */
  signIn(answer: PasskeyAnswer, browser: Browser): Promise<StartedSession>
  /** Proves that the caller is still the one who signed in. */
  prove(principal: Principal, answer: PasskeyAnswer): Promise<void>
}

export interface PasskeysServiceOptions {
  db: Database
  clock: Clock
  jobs: JobQueue
  secretBox: SecretBox
  webAuthn: WebAuthn
}

export function createPasskeysService(options: PasskeysServiceOptions): PasskeysService {
  const { db, clock, jobs, secretBox, webAuthn } = options

  const tickets = createPasskeyTickets({ clock, secretBox })

  /** Verifies the answer of a passkey, then runs what it allows, in the transaction that uses the challenge. */
  async function use<Result>(
    answer: PasskeyAnswer,
    run: (tx: Executor, passkey: PasskeyRow, now: Date) => Promise<Result>,
  ): Promise<Result> {
    const ticket = tickets.open(answer.ticket, null)
    const credential = parseCredential(answer.credential)
    const passkey = credential && (await findPasskey(db, credential.id))
    if (!passkey) throw errors.passkeyRefused()
    const signCount = await webAuthn.verifyAuthentication(credential, ticket.challenge, passkey)
    if (signCount === undefined) throw errors.passkeyRefused()
    return db.transaction(async (tx) => {
      const now = clock.now()
      await tickets.use(tx, ticket)
      if (!(await recordPasskeyUse(tx, passkey, { signCount, lastUsedAt: now })))
        throw errors.passkeyRefused()
      return run(tx, passkey, now)
    })
  }

  return {
    list: async ({ user }) => (await listPasskeys(db, user.id)).map(toPasskey),

    async beginRegistration({ user }) {
      const existing = await listPasskeys(db, user.id)
      const { options: forBrowser, challenge } = await webAuthn.createRegistration({ ...user, existing })
      return { options: forBrowser, ticket: tickets.create(challenge, user.id) }
    },

    async register(principal, { ticket: text, credential: json, name: label }) {
      const userId = principal.user.id
      const name = requireLabel(label)
      const ticket = tickets.open(text, userId)
      const created = await verifyCreation(webAuthn, json, ticket)
      await db.transaction(async (tx) => {
        const now = clock.now()
        await lockUser(tx, userId)
        await requireLiveCredential(tx, principal, now)
        await tickets.use(tx, ticket)
        if ((await listPasskeys(tx, userId)).length >= passkeysMax) throw errors.passkeyLimit()
        await insertPasskey(tx, { id: createId(), userId, ...created, name, createdAt: now })
        const notice = { userId, notice: 'passkey_added' as const, detail: name }
        await jobs.enqueue(tx, 'send_security_notice', notice, { requestId: principal.requestId })
      })
      return name
    },

    async rename({ user }, id, label) {
      const name = requireLabel(label)
      if (!isId(id) || !(await renamePasskey(db, { id, userId: user.id }, name))) throw errors.notFound()
      return name
    },

    async remove({ user, requestId }, id) {
      if (!isId(id)) throw errors.notFound()
      return db.transaction(async (tx) => {
        await lockUser(tx, user.id)
        const name = await deletePasskey(tx, { id, userId: user.id })
        if (name === undefined) throw errors.notFound()
        const notice = { userId: user.id, notice: 'passkey_removed' as const, detail: name }
        await jobs.enqueue(tx, 'send_security_notice', notice, { requestId })
        return name
      })
    },

    async beginUse() {
      const { options: forBrowser, challenge } = await webAuthn.createAuthentication()
      return { options: forBrowser, ticket: tickets.create(challenge, null) }
    },

    signIn: (answer, browser) =>
      use(answer, async (tx, { userId }, now) => {
        const user = await lockUser(tx, userId)
        if (!user) throw errors.passkeyRefused()
        return startSession(tx, { user, browser, now, jobs })
      }),

    prove: (principal, answer) =>
      use(answer, async (tx, { userId }, now) => {
        if (userId !== principal.user.id) throw errors.passkeyRefused()
        await proveSession(tx, principal, now)
      }),
  }
}

function toPasskey({ id, name, createdAt, lastUsedAt }: PasskeyRow): Passkey {
  return {
    id,
    name,
    createdAt: createdAt.toISOString(),
    lastUsedAt: lastUsedAt?.toISOString() ?? null,
  }
}
