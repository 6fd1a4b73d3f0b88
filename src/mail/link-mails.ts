import { compose, type MailContent } from './compose.ts'
import { formatDuration } from './times.ts'
import { greet } from './words.ts'

/**
 * A link to a page of the website, and how long it works. `name` is undefined in mail to an address that is not verified:
 * the name may be a text of a stranger.
 */
export interface LinkMailInput {
  name: string | undefined
  url: string
  lifetimeMs: number
}

/** Asks a person who signed up to verify their email address. */
export function verifyEmailMail({ name, url, lifetimeMs }: LinkMailInput): MailContent {
  return compose({
    subject: 'Verify your email address',
    paragraphs: [
      `${greet(name)}, open the link below and enter your password to verify your email address.`,
      `The link works for ${formatDuration(lifetimeMs)}. To get a new one, sign in with your password.`,
    ],
    link: { label: 'Verify your email address', url },
    footer:
      'If you did not create an account, ignore this email. The account cannot be used before you verify the address.',
  })
}

/** Tells a person that they cannot sign up, since nobody has invited their address. */
export function signUpRefusedMail({ webUrl }: { webUrl: string }): MailContent {
  return compose({
    subject: 'You need an invite to sign up',
    paragraphs: [
      'Hello, somebody tried to sign up with this email address. Only people who are invited can sign up.',
      'Ask an owner or an admin of the workspace that you want to join to invite this address.',
    ],
    link: { label: 'Open the website', url: webUrl },
    footer: 'If this was not you, ignore this email. There is no account with this address.',
  })
}

/** What a person may try with an address that another account uses already, and how a mail describes it. */
const attempts = {
  sign_up:
    'Someone just tried to sign up with it again. If you forgot your password, select "Forgot your password?" on that page.',
  change_email: 'Someone just tried to use it for another account.',
}

/** Tells a person that someone tried to sign up with their address, or to use it for another account. */
export function accountExistsMail(input: {
  name: string | undefined
  attempt: keyof typeof attempts
  signInUrl: string
}): MailContent {
  return compose({
    subject: 'You already have an account',
    paragraphs: [
      `${greet(input.name)}, sign in at the link below: you already have an account with this email address.`,
      attempts[input.attempt],
    ],
    link: { label: 'Sign in', url: input.signInUrl },
    footer: 'If this was not you, ignore this email. Nothing has changed.',
  })
}

/** Sends a person a link to choose a new password. */
export function resetPasswordMail({ name, url, lifetimeMs }: LinkMailInput): MailContent {
  return compose({
    subject: 'Choose a new password',
    paragraphs: [
      `${greet(name)}, open the link below to choose a new password.`,
      `The link works once, within ${formatDuration(lifetimeMs)}. A new password signs you out on all devices.`,
    ],
    link: { label: 'Choose a new password', url },
    footer: 'If you did not ask for a new password, ignore this email. Your password stays the same.',
  })
}

/** Sends a person a link that signs them in without a password. */
export function signInLinkMail({ name, url, lifetimeMs }: LinkMailInput): MailContent {
  return compose({
    subject: 'Your sign-in link',
    paragraphs: [
      `${greet(name)}, open the link below to sign in.`,
      `The link works once, within ${formatDuration(lifetimeMs)}. You do not need a password.`,
    ],
    link: { label: 'Sign in', url },
    footer:
      'If you did not ask to sign in, ignore this email. Do not forward it: the link signs in anyone who opens it.',
  })
}

/** Asks a person to confirm their new email address. */
export function changeEmailMail({ name, url, lifetimeMs }: LinkMailInput): MailContent {
  return compose({
    subject: 'Confirm your new email address',
    paragraphs: [
      `${greet(name)}, open the link below to make this the email address of your account.`,
      `The link works once, within ${formatDuration(lifetimeMs)}, in a browser where you are signed in.`,
    ],
    link: { label: 'Confirm the address', url },
    footer: 'If you did not ask for this, ignore this email. Nothing changes.',
  })
}
