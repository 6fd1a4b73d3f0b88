import { withoutRefused } from '../kernel/text.ts'

/** What a mail says, for people and for mail programs without HTML. */
export interface MailContent {
  subject: string
  text: string
  html: string
}

/** Invites somebody to a workspace. */
export function inviteMail(input: {
  workspaceName: string
  invitedByName: string
  role: string
  inviteUrl: string
  expiresAt: Date
}): MailContent {
  const { workspaceName, invitedByName, role, inviteUrl, expiresAt } = input
  return compose({
    subject: `${invitedByName} invited you to ${workspaceName}`,
    paragraphs: [
      `Open the link below to join the workspace ${workspaceName} as ${role}. ${invitedByName} invited you.`,
      `The invitation is for this email address only. It expires on ${formatDate(expiresAt)}.`,
    ],
    link: { label: 'Open the invitation', url: inviteUrl },
    footer: 'If you did not expect this invitation, ignore this email. The invitation expires by itself.',
  })
}

/** Notifies somebody of their new role in a workspace. */
export function roleChangedMail(input: {
  workspaceName: string
  workspaceUrl: string
  actorName: string
  role: string
}): MailContent {
  return compose({
    subject: `Your role in ${input.workspaceName} is now ${input.role}`,
    paragraphs: [
      `${input.actorName} changed your role in the workspace ${input.workspaceName} to ${input.role}.`,
      'You do not need to do anything.',
    ],
    link: { label: 'Open the workspace', url: input.workspaceUrl },
    footer: noticeFooter,
  })
}

/** Notifies whoever invited somebody that the invitation was accepted. */
export function inviteAcceptedMail(input: {
  workspaceName: string
  workspaceUrl: string
  memberName: string
}): MailContent {
  return compose({
    subject: `${input.memberName} joined ${input.workspaceName}`,
    paragraphs: [
      `${input.memberName} accepted your invitation to the workspace ${input.workspaceName}.`,
      'You do not need to do anything.',
    ],
    link: { label: 'Open the workspace', url: input.workspaceUrl },
    footer: noticeFooter,
  })
}

/** A link to a page of the website, and how long it works. */
export interface LinkMailInput {
  name: string
  url: string
  lifetimeMs: number
}

/** Asks whoever signed up to confirm the address. */
export function verifyEmailMail({ name, url, lifetimeMs }: LinkMailInput): MailContent {
  return compose({
    subject: 'Confirm your email address',
    paragraphs: [
      `Hello ${name}, open the link below and enter your password to confirm your email address.`,
      `The link works for ${formatDuration(lifetimeMs)}. To get a new one, sign in with your password.`,
    ],
    link: { label: 'Confirm your email address', url },
    footer:
      'If you did not create an account, ignore this email. Without your confirmation, nobody can use the account.',
  })
}

/** Tells somebody who signed up again that they have an account. */
export function accountExistsMail(input: { name: string; signInUrl: string }): MailContent {
  return compose({
    subject: 'You already have an account',
    paragraphs: [
      `Hello ${input.name}, sign in at the link below: you already have an account with this email address.`,
      'Somebody just tried to sign up with it again. If you forgot your password, choose "Forgot your password?" on that page.',
    ],
    link: { label: 'Sign in', url: input.signInUrl },
    footer: 'If this was not you, ignore this email. Nothing has changed.',
  })
}

/** Lets somebody choose a new password. */
export function resetPasswordMail({ name, url, lifetimeMs }: LinkMailInput): MailContent {
  return compose({
    subject: 'Choose a new password',
    paragraphs: [
      `Hello ${name}, open the link below to choose a new password.`,
      `The link works once, within ${formatDuration(lifetimeMs)}. A new password signs you out on all devices.`,
    ],
    link: { label: 'Choose a new password', url },
    footer: 'If you did not ask for a new password, ignore this email. Your password stays the same.',
  })
}

/** Lets somebody sign in without a password. */
export function signInLinkMail({ name, url, lifetimeMs }: LinkMailInput): MailContent {
  return compose({
    subject: 'Your sign-in link',
    paragraphs: [
      `Hello ${name}, open the link below to sign in.`,
      `The link works once, within ${formatDuration(lifetimeMs)}. You do not need a password.`,
    ],
    link: { label: 'Sign in', url },
    footer:
      'If you did not ask to sign in, ignore this email. Do not forward it: the link signs in anybody who opens it.',
  })
}

/** Tells somebody that their password was changed, and what else still has access in their name. */
export function passwordChangedMail(input: {
  name: string
  forgotUrl: string
  /** Whether API keys were revoked and the access of agents ended with the change. */
  isAccessRevoked: boolean
  apiKeyCount: number
  grantCount: number
}): MailContent {
  const { apiKeyCount, grantCount } = input
  const remaining =
    apiKeyCount + grantCount === 0
      ? []
      : [
          `Your API keys (${apiKeyCount}) and the agents that you gave access to (${grantCount}) keep working. You can ` +
            'revoke them on the security page of your settings and on the agents page of each workspace.',
        ]
  return compose({
    subject: 'Your password was changed',
    paragraphs: [
      `Hello ${input.name}, if you did not just change your password, open the link below and choose a new one now.`,
      'The password of your account was changed, and your other devices were signed out.' +
        (input.isAccessRevoked ? ' Your API keys were revoked, and agents no longer have access.' : ''),
      ...remaining,
    ],
    link: { label: 'Choose a new password', url: input.forgotUrl },
    footer: 'If you changed the password yourself, ignore this email.',
  })
}

/** Tells somebody that there are new API keys of theirs. */
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
      `Programs use API keys to act in your name. Your newest keys: ${input.keyNames.join(', ')}.`,
    ],
    link: { label: 'See your API keys', url: input.securityUrl },
    footer: 'If you created the key yourself, ignore this email.',
  })
}

/** Tells somebody that they have signed in with a browser for the first time. */
export function signedInMail(input: {
  name: string
  browser: string
  at: Date
  securityUrl: string
}): MailContent {
  return compose({
    subject: 'You signed in with another browser',
    paragraphs: [
      `Hello ${input.name}, if this was not you, open the link below, sign out everywhere else and change your password.`,
      `Somebody signed in to your account on ${formatDate(input.at)}, with ${input.browser}. It was the first time with that browser.`,
    ],
    link: { label: 'See where you are signed in', url: input.securityUrl },
    footer: 'If this was you, ignore this email.',
  })
}

const noticeFooter = 'You receive this email because notices of workspace activity are on in your settings.'

interface MailParts {
  subject: string
  paragraphs: string[]
  link: { label: string; url: string }
  footer: string
}

function compose({ link, footer, ...written }: MailParts): MailContent {
  const subject = withoutRefused(written.subject)
  const paragraphs = written.paragraphs.map(withoutRefused)
  // A line for each element, and wrapped: mail has a limit for lines, and people read the source of mails in files.
  const html = [
    '<!doctype html>',
    '<html lang="en">',
    '<body style="font-family:system-ui,sans-serif">',
    ...paragraphs.map((paragraph) => `<p>${escapeHtml(wrap(paragraph))}</p>`),
    `<p><a href="${escapeHtml(link.url)}">${escapeHtml(link.label)}</a></p>`,
    `<p style="color:#666">${escapeHtml(wrap(footer))}</p>`,
    '</body>',
    '</html>',
    '',
  ]
  return {
    subject,
    text: [...paragraphs.map(wrap), `${link.label}:\n${link.url}`, wrap(footer), ''].join('\n\n'),
    html: html.join('\n'),
  }
}

/** Breaks lines before 76 characters, so that they can be read in any terminal. */
function wrap(text: string): string {
  return text.replace(/(?=\S)(.{1,72})(?:\s+|$)/gu, '$1\n').trimEnd()
}

function escapeHtml(text: string): string {
  const entities: Record<string, string> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  }
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character)
}

function formatDate(date: Date): string {
  return `${date.toISOString().slice(0, 16).replace('T', ' ')} UTC`
}

const units: [name: string, lengthMs: number][] = [
  ['hour', 60 * 60 * 1000],
  ['minute', 60 * 1000],
]

/** A duration in the largest unit that it is a whole number of, such as `24 hours`. */
function formatDuration(durationMs: number): string {
  const [name, lengthMs] = units.find(([, length]) => durationMs % length === 0) ?? ['second', 1000]
  const count = Math.ceil(durationMs / lengthMs)
  return `${count} ${name}${count === 1 ? '' : 's'}`
}
