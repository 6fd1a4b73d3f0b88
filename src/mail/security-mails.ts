import type { AccessCounts, SecurityNotice } from '../domain/accounts.ts'
import { compose, type MailContent } from './compose.ts'
import { describeTime, formatTime } from './times.ts'
import { greet } from './words.ts'

/** Tells a person that their account will be deleted, with the link that cancels it. */
export function accountDeletionMail(input: {
  name: string
  url: string
  deletedAt: Date
  now: Date
}): MailContent {
  const { name, url, deletedAt, now } = input
  return compose({
    subject: 'Your account will be deleted',
    paragraphs: [
      `${greet(name)}, the deletion of your account was requested. You are signed out everywhere, and your API keys and agents have lost access.`,
      `The account is deleted ${describeTime(deletedAt, now)}. Until then, you can keep it by the link below.`,
    ],
    link: { label: 'Keep the account', url },
    footer:
      'If you did not request this, keep the account, and then choose a new password. Your API keys and agents must be set up again.',
  })
}

/** Tells a person that their password was changed, what else was revoked with it, and what still gives access. */
export function passwordChangedMail(input: {
  name: string
  forgotUrl: string
  /** What the change also revoked; undefined if that was not asked for. */
  revoked: AccessCounts | undefined
  kept: AccessCounts
}): MailContent {
  const [revoked, kept] = [input.revoked && listAccess(input.revoked), listAccess(input.kept)]
  return compose({
    subject: 'Your password was changed',
    paragraphs: [
      `Hello ${input.name}, if you did not just change your password, open the link below and choose a new one now.`,
      'The password of your account was changed, and your other devices were signed out.',
      ...(revoked === undefined ? [] : [`Also revoked: ${revoked}.`]),
      ...(kept === undefined
        ? []
        : [
            `Not revoked: ${kept}. You can revoke these on the security page of your settings, and agents on the agents ` +
              'page of each workspace.',
          ]),
    ],
    link: { label: 'Choose a new password', url: input.forgotUrl },
    footer: 'If you changed the password yourself, ignore this email.',
  })
}

const accessNames: Record<keyof AccessCounts, [one: string, many: string]> = {
  apiKeyCount: ['API key', 'API keys'],
  grantCount: ['agent', 'agents'],
  passkeyCount: ['passkey', 'passkeys'],
  identityCount: ['linked account', 'linked accounts'],
  emailChangeCount: ['pending change of your email address', 'pending changes of your email address'],
  unconfirmedAppCount: [
    'unfinished setup of an authenticator app',
    'unfinished setups of authenticator apps',
  ],
}

const conjunction = new Intl.ListFormat('en-GB')

/** Lists what gives access, with numbers; undefined if there is nothing. */
function listAccess(counts: AccessCounts): string | undefined {
  const parts = Object.entries(accessNames).flatMap(([key, [one, many]]) => {
    const count = counts[key as keyof AccessCounts]
    return count === 0 ? [] : [`${count} ${count === 1 ? one : many}`]
  })
  return parts.length === 0 ? undefined : conjunction.format(parts)
}

/** Tells a person that an API key of theirs was created. */
export function apiKeysCreatedMail(input: {
  name: string
  /** The newest first. */
  keyNames: readonly string[]
  securityUrl: string
}): MailContent {
  return compose({
    subject: 'A new API key was created',
    paragraphs: [
      `Hello ${input.name}, if you did not just create an API key, open the link below and revoke it, then change your password.`,
      `An API key lets a program act as you. Your newest keys: ${input.keyNames.join(', ')}.`,
    ],
    link: { label: 'See your API keys', url: input.securityUrl },
    footer: 'If you created the key yourself, ignore this email.',
  })
}

/** Tells a person that they signed in with a browser for the first time. */
export function signedInMail(input: {
  name: string
  browser: string
  at: Date
  securityUrl: string
}): MailContent {
  return compose({
    subject: 'New sign-in to your account',
    paragraphs: [
      `Hello ${input.name}, if this was not you, open the link below, sign out on all other devices and change your password.`,
      `Someone signed in to your account with ${input.browser} on ${formatTime(input.at)}. That browser was not used before.`,
    ],
    link: { label: 'See where you are signed in', url: input.securityUrl },
    footer: 'If this was you, ignore this email.',
  })
}

/** The subject of a security notice, and what happened. */
type NoticeWords = [subject: string, happened: string]

function describeNotice(notice: SecurityNotice, detail: string, recoveryCodesLeft: number): NoticeWords {
  const words: Record<SecurityNotice, NoticeWords> = {
    two_step_on: [
      'Two-step sign-in is on',
      'Two-step sign-in was turned on for your account. From now on, signing in also requires a code from your authenticator app.',
    ],
    two_step_off: [
      'Two-step sign-in is off',
      'Two-step sign-in was turned off for your account, and its recovery codes no longer work.',
    ],
    two_step_off_by_operator: [
      'Two-step sign-in is off',
      'An operator of the service turned off two-step sign-in for your account, and its recovery codes no longer work. You can turn it on again.',
    ],
    recovery_codes_renewed: [
      'You have new recovery codes',
      'New recovery codes were created for your account. The old ones no longer work.',
    ],
    recovery_code_used: [
      'A recovery code was used',
      `A recovery code was used to confirm that it is you. ${describeCodesLeft(recoveryCodesLeft)}`,
    ],
    second_step_failed: [
      'A sign-in to your account failed at the second step',
      'Someone passed the first step of signing in to your account, then entered several wrong codes. They were not signed in.',
    ],
    passkey_added: [
      'A passkey was added to your account',
      `The passkey ${detail} was added to your account. It can be used to sign in without a password.`,
    ],
    passkey_removed: [
      'A passkey was removed from your account',
      `The passkey ${detail} was removed from your account. It can no longer be used to sign in.`,
    ],
    provider_linked: [
      `${detail} was linked to your account`,
      `An account at ${detail} was linked to your account. It can be used to sign in without your password.`,
    ],
    provider_unlinked: [
      `${detail} was unlinked from your account`,
      `Your account at ${detail} was unlinked. It can no longer be used to sign in.`,
    ],
  }
  return words[notice]
}

// From this number on, people are asked to create new recovery codes.
const recoveryCodesFew = 3

function describeCodesLeft(count: number): string {
  const left = `You have ${count === 0 ? 'no' : count} recovery ${count === 1 ? 'code' : 'codes'} left.`
  return count > recoveryCodesFew ? left : `${left} Create new ones on the security page of your settings.`
}

/** Tells a person about a change of how they sign in. */
export function securityNoticeMail(input: {
  name: string
  notice: SecurityNotice
  detail: string
  recoveryCodesLeft: number
  securityUrl: string
}): MailContent {
  const { name, notice, detail, recoveryCodesLeft, securityUrl } = input
  const [subject, happened] = describeNotice(notice, detail, recoveryCodesLeft)
  return compose({
    subject,
    paragraphs: [
      `Hello ${name}, if this was not you, open the link below, change your password and sign out on all other devices.`,
      happened,
    ],
    link: { label: 'Open your security settings', url: securityUrl },
    footer: 'If this was you, ignore this email.',
  })
}

/** Tells the old address of an account that a new one was asked for, or counts now. */
export function emailChangeNoticeMail(input: {
  name: string
  to: string
  isDone: boolean
  securityUrl: string
  /** The link that takes the address back; undefined if there is none. */
  takeBackUrl: string | undefined
}): MailContent {
  const { name, to, isDone, securityUrl, takeBackUrl } = input
  const whatToDo =
    takeBackUrl === undefined
      ? 'ask the people who run this service for help now.'
      : 'open the link below, take this address back and choose a new password. The link works for seven days.'
  return compose({
    subject: isDone ? 'Your email address was changed' : 'Your email address is about to change',
    paragraphs: isDone
      ? [
          `Hello ${name}, if you did not do this, ${whatToDo}`,
          `The email address of your account is now ${to}. We will send all further email there.`,
        ]
      : [
          `Hello ${name}, if you did not do this, open the link below, cancel the change and change your password.`,
          `Someone asked to change the email address of your account to ${to}. It changes when they open the link that we sent to that address.`,
        ],
    link:
      takeBackUrl === undefined
        ? { label: 'Open your security settings', url: securityUrl }
        : { label: 'Take this address back', url: takeBackUrl },
    footer: 'If this was you, ignore this email.',
  })
}
