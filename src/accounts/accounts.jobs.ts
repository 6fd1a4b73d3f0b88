import type { Database } from '../db/client.ts'
import type { AccountTokenPurpose } from '../kernel/accounts.ts'
import type { Clock } from '../kernel/clock.ts'
import { createToken, hashSecret } from '../kernel/tokens.ts'
import {
  accountExistsMail,
  passwordChangedMail,
  resetPasswordMail,
  signInLinkMail,
  verifyEmailMail,
} from '../mail/messages.ts'
import type { JobHandlers } from '../platform/jobs/jobs.port.ts'
import type { Mailer } from '../platform/mail/mail.port.ts'
import { findUserByEmail, findUserById, type UserRow } from './accounts.repository.ts'
import { insertAccountToken } from './credentials.repository.ts'
import { linkLifetimeMs, linkUrlOf } from './credentials.service.ts'

const linkMails = {
  verify_email: verifyEmailMail,
  reset_password: resetPasswordMail,
  sign_in: signInLinkMail,
}

/** The mails by which people prove their address. */
export function createAccountsJobs(options: {
  db: Database
  clock: Clock
  mailer: Mailer
  webUrl: string
}): Pick<JobHandlers, 'send_account_mail' | 'send_password_changed'> {
  const { db, clock, mailer, webUrl } = options

  async function createLink(user: UserRow, purpose: AccountTokenPurpose): Promise<string> {
    // Made only now: a token that waited in the queue would be there to be read.
    const token = createToken()
    await insertAccountToken(db, {
      tokenHash: hashSecret(token),
      userId: user.id,
      purpose,
      expiresAt: new Date(clock.now().getTime() + linkLifetimeMs[purpose]),
    })
    return linkUrlOf(webUrl, purpose, token)
  }

  return {
    async send_account_mail({ purpose, email }, { id }) {
      const user = await findUserByEmail(db, email)
      if (!user) return
      const { name } = user
      const content =
        purpose === 'verify_email' && user.emailVerifiedAt !== null
          ? accountExistsMail({ name, signInUrl: `${webUrl}/sign-in` })
          : linkMails[purpose]({
              name,
              url: await createLink(user, purpose),
              lifetimeMs: linkLifetimeMs[purpose],
            })
      await mailer.send({ ...content, to: { name, address: user.email }, id: `account-${id}` })
    },

    async send_password_changed({ userId }, { id }) {
      const user = await findUserById(db, userId)
      if (!user) return
      await mailer.send({
        ...passwordChangedMail({ name: user.name, forgotUrl: `${webUrl}/forgot` }),
        to: { name: user.name, address: user.email },
        id: `password-changed-${id}`,
      })
    },
  }
}
