import { listActiveApiKeys } from '../areas/apiKeys/apiKeys.repository.ts'
import type { Database } from '../db/client.ts'
import type { AccountTokenPurpose, EntryRules } from '../domain/accounts.ts'
import { describeBrowser } from '../kernel/browsers.ts'
import type { Clock } from '../kernel/clock.ts'
import { createToken, hashSecret } from '../kernel/tokens.ts'
import type { MailContent } from '../mail/compose.ts'
import {
  accountExistsMail,
  changeEmailMail,
  resetPasswordMail,
  signInLinkMail,
  signUpRefusedMail,
  verifyEmailMail,
} from '../mail/link-mails.ts'
import {
  apiKeysCreatedMail,
  emailChangeNoticeMail,
  passwordChangedMail,
  securityNoticeMail,
  signedInMail,
} from '../mail/security-mails.ts'
import type { JobHandlers, RunningJob } from '../platform/jobs/jobs.port.ts'
import type { Mails } from '../mail/mails.ts'
import { findRefusal } from './sign-in/admission.ts'
import { countAccess } from './sign-in/access-of-person.repository.ts'
import { findUserByEmail, findUserById, type UserRow } from '../users/users.repository.ts'
import { insertAccountToken } from './sign-in/credentials.repository.ts'
import { emailChangeLifetimeMs, linkLifetimeMs, linkUrlOf } from '../domain/links.ts'
import {
  findEmailChange,
  setEmailChangeToken,
  setTakeBackToken,
} from './email-changes/email-changes.repository.ts'
import { countRecoveryCodes } from './second-factor/second-factor.repository.ts'

const keyNamesMax = 5

const linkMails = {
  verify_email: verifyEmailMail,
  reset_password: resetPasswordMail,
  sign_in: signInLinkMail,
}

/** The jobs that send links and security notices by mail. */
export function createAccountsJobs(options: {
  db: Database
  clock: Clock
  mails: Mails
  webUrl: string
  signUp: EntryRules['signUp']
}): Pick<
  JobHandlers,
  | 'send_account_mail'
  | 'send_password_changed'
  | 'send_api_keys_created'
  | 'send_signed_in'
  | 'send_security_notice'
  | 'send_email_change'
  | 'send_email_change_notice'
> {
  const { db, clock, mails, webUrl, signUp } = options

  async function createLink(user: UserRow, purpose: AccountTokenPurpose, email: string): Promise<string> {
    // Created by the job, since tokens must not be stored in the queue.
    const token = createToken()
    await insertAccountToken(db, {
      tokenHash: hashSecret(token),
      userId: user.id,
      email,
      purpose,
      expiresAt: new Date(clock.now().getTime() + linkLifetimeMs[purpose]),
    })
    return linkUrlOf(webUrl, purpose, token)
  }

  const securityUrl = `${webUrl}/settings/security`
  const signInUrl = `${webUrl}/sign-in`

  async function send(
    user: UserRow,
    job: RunningJob,
    id: string,
    compose: (name: string) => MailContent,
  ): Promise<void> {
    const { name, email: address } = user
    await mails.send({ ...compose(name), to: { name, address }, id }, job, { userId: user.id })
  }

  return {
    async send_account_mail({ purpose, email, isOfInvited = false }, job) {
      const user = await findUserByEmail(db, email)
      // A link that would admit nobody is not sent.
      if (!user || (await findRefusal(db, user, { signUp, now: clock.now() }))) {
        const to = { name: '', address: email }
        if (isOfInvited)
          await mails.send({ ...signUpRefusedMail({ webUrl }), to, id: `account-${job.id}` }, job, {})
        return
      }
      const { name, address } = recipientOf(user, email)
      const content =
        purpose === 'verify_email' && user.emailVerifiedAt !== null
          ? accountExistsMail({ name, attempt: 'sign_up', signInUrl })
          : linkMails[purpose]({
              name,
              url: await createLink(user, purpose, address),
              lifetimeMs: linkLifetimeMs[purpose],
            })
      await mails.send({ ...content, to: { name: name ?? '', address }, id: `account-${job.id}` }, job, {
        userId: user.id,
      })
    },

    async send_password_changed({ userId, revoked }, job) {
      const user = await findUserById(db, userId)
      if (!user) return
      const kept = await countAccess(db, userId, clock.now())
      const forgotUrl = `${webUrl}/forgot`
      await send(user, job, `password-changed-${job.id}`, (name) =>
        passwordChangedMail({ name, forgotUrl, revoked, kept }),
      )
    },

    async send_api_keys_created({ userId }, job) {
      const user = await findUserById(db, userId)
      const keys = await listActiveApiKeys(db, { userId, now: clock.now() })
      const keyNames = keys.slice(0, keyNamesMax).map(({ name }) => name)
      // All keys have been revoked meanwhile.
      if (!user || keyNames.length === 0) return
      await send(user, job, `api-keys-created-${job.id}`, (name) =>
        apiKeysCreatedMail({ name, keyNames, securityUrl }),
      )
    },

    async send_signed_in({ userId, userAgent, at }, job) {
      const user = await findUserById(db, userId)
      if (!user) return
      const browser = describeBrowser(userAgent)
      await send(user, job, `signed-in-${job.id}`, (name) =>
        signedInMail({ name, browser, at: new Date(at), securityUrl }),
      )
    },

    async send_security_notice({ userId, notice, detail = '' }, job) {
      const user = await findUserById(db, userId)
      if (!user) return
      const recoveryCodesLeft = await countRecoveryCodes(db, userId)
      await send(user, job, `security-notice-${job.id}`, (name) =>
        securityNoticeMail({ name, notice, detail, recoveryCodesLeft, securityUrl }),
      )
    },

    async send_email_change({ changeId }, job) {
      const change = await findEmailChange(db, changeId, clock.now())
      const user = change && (await findUserById(db, change.userId))
      if (!user) return
      const holder = await findUserByEmail(db, change.email)
      if (holder && holder.id !== user.id) {
        const { name, address } = recipientOf(holder, change.email)
        const content = accountExistsMail({ name, attempt: 'change_email', signInUrl })
        await mails.send(
          { ...content, to: { name: name ?? '', address }, id: `email-change-${job.id}` },
          job,
          { userId: holder.id },
        )
        return
      }
      const token = createToken()
      if (!(await setEmailChangeToken(db, change.id, hashSecret(token)))) return
      const url = `${securityUrl}/email/confirm/${token}`
      const content = changeEmailMail({ name: undefined, url, lifetimeMs: emailChangeLifetimeMs })
      await mails.send(
        { ...content, to: { name: '', address: change.email }, id: `email-change-${job.id}` },
        job,
        { userId: user.id },
      )
    },

    async send_email_change_notice({ userId, from, to, isDone }, job) {
      const user = await findUserById(db, userId)
      if (!user) return
      const token = createToken()
      const address = { userId, email: from, tokenHash: hashSecret(token), now: clock.now() }
      const isReserved = isDone && (await setTakeBackToken(db, address))
      const takeBackUrl = isReserved ? `${webUrl}/sign-in/take-back/${token}` : undefined
      await send({ ...user, email: from }, job, `email-change-notice-${job.id}`, (name) =>
        emailChangeNoticeMail({ name, to, isDone, securityUrl, takeBackUrl }),
      )
    },
  }
}

/**
 * How a mail to an account addresses its person. Until an address is verified, the name and another spelling of the
 * address may be those of a stranger: then there is no name, and mail goes to the spelling that was requested.
 */
function recipientOf(user: UserRow, requested: string): { name: string | undefined; address: string } {
  return user.emailVerifiedAt === null
    ? { name: undefined, address: requested }
    : { name: user.name, address: user.email }
}
