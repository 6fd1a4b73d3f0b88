import type { AccessCounts, SecurityNotice } from '../kernel/accounts.ts'
import type { WebhookDisabledReason } from '../kernel/webhooks.ts'
import { compose, type MailContent } from './compose.ts'
import { describeTime, formatDuration, formatTime } from './times.ts'

export type { MailContent }

/** Invites a person to a workspace. */
export function inviteMail(input: {
  workspaceName: string
  invitedByName: string
  role: string
  inviteUrl: string
  expiresAt: Date
  now: Date
}): MailContent {
  const { workspaceName, invitedByName, role, inviteUrl, expiresAt, now } = input
  return compose({
    subject: `${invitedByName} invited you to ${workspaceName}`,
    paragraphs: [
      `Open the link below to join the workspace ${workspaceName} as ${role}. ${invitedByName} invited you.`,
      `The invite is for this email address only. It expires ${describeTime(expiresAt, now)}.`,
    ],
    link: { label: 'Open the invite', url: inviteUrl },
    footer: 'If you did not expect this invite, ignore this email. The invite expires by itself.',
  })
}

/** Notifies a member of their new role in a workspace. */
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

/** Tells an owner that their workspace was deleted. */
export function workspaceDeletedMail(input: {
  workspaceName: string
  slug: string
  actorName: string
  /** How long it can be restored. */
  keptMs: number
  homeUrl: string
}): MailContent {
  const { workspaceName, slug, actorName, keptMs, homeUrl } = input
  return compose({
    subject: `The workspace ${workspaceName} was deleted`,
    paragraphs: [
      `${actorName} deleted the workspace ${workspaceName} (${slug}), of which you are an owner. Nobody can open it any more, and its agents have lost access.`,
      `For ${formatDuration(keptMs)} whoever runs this service can restore it. After that, everything in it is erased.`,
    ],
    link: { label: 'Open your home page', url: homeUrl },
    footer:
      'If this was a mistake, ask whoever runs this service to restore the workspace, and name its address.',
  })
}

/** Notifies the member who sent an invite that it was accepted. */
export function inviteAcceptedMail(input: {
  workspaceName: string
  workspaceUrl: string
  memberName: string
}): MailContent {
  return compose({
    subject: `${input.memberName} joined ${input.workspaceName}`,
    paragraphs: [
      `${input.memberName} accepted your invite to the workspace ${input.workspaceName}.`,
      'You do not need to do anything.',
    ],
    link: { label: 'Open the workspace', url: input.workspaceUrl },
    footer: noticeFooter,
  })
}

/** Tells a person that somebody mentioned them. */
export function mentionMail(input: { text: string; workspaceName: string; url: string }): MailContent {
  const { text, workspaceName, url } = input
  return compose({
    subject: text,
    paragraphs: [`${text}, in the workspace ${workspaceName}.`],
    link: { label: 'Open the comment', url },
    footer: noticeFooter,
  })
}

/** Tells a person what they have not read. */
export function digestMail(input: {
  /** The newest first. */
  items: readonly { text: string; workspaceName: string; url: string }[]
  /** The number of all, also of those that are not in `items`. */
  count: number
  inboxUrl: string
}): MailContent {
  const { items, count, inboxUrl } = input
  const [first] = items
  const rest = count - items.length
  return compose({
    subject: count === 1 && first ? first.text : `${count} new notifications`,
    paragraphs: [
      count === 1
        ? 'You have a notification that you have not read.'
        : 'You have notifications that you have not read.',
    ],
    items: items.map(({ text, workspaceName, url }) => ({ text: `${text}, in ${workspaceName}`, url })),
    ...(rest > 0 && { afterItems: `And ${rest} more.` }),
    link: { label: 'Open your notifications', url: inboxUrl },
    footer: `${noticeFooter} There is one such email a day at most.`,
  })
}

/**
 * A link to a page of the website, and how long it works. `name` is undefined in mail to an address that is not verified:
 * the name may be a text of a stranger.
 */
export interface LinkMailInput {
  name: string | undefined
  url: string
  lifetimeMs: number
}

const greet = (name: string | undefined) => (name === undefined ? 'Hello' : `Hello ${name}`)

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

/** Tells a person that an API key of theirs expires soon. */
export function apiKeyExpiresMail(input: {
  name: string
  keyName: string
  lastFour: string
  expiresAt: Date
  now: Date
  keyUrl: string
}): MailContent {
  const { name, keyName, lastFour, expiresAt, now, keyUrl } = input
  return compose({
    subject: `Your API key ${keyName} expires soon`,
    paragraphs: [
      `Hello ${name}, your API key ${keyName}, which ends in ${lastFour}, expires ${describeTime(expiresAt, now)}.`,
      'From then on, programs that use it are refused. If you still need it, open the link below and choose a later date, ' +
        'or create another key for these programs.',
    ],
    link: { label: 'See the key', url: keyUrl },
    footer: 'If you no longer need the key, ignore this email. It stops working by itself.',
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

/** Tells a person that the access of an agent of theirs ended, because a token was used again. */
export function accessEndedMail(input: {
  name: string
  clientName: string
  workspaceName: string
  agentsUrl: string
}): MailContent {
  const { name, clientName, workspaceName, agentsUrl } = input
  return compose({
    subject: `${clientName} no longer has access to ${workspaceName}`,
    paragraphs: [
      `Hello ${name}, if you still use ${clientName}, connect it to the workspace ${workspaceName} again.`,
      `We ended its access because a code or token that it had already exchanged was used again. Either the program uses ` +
        'an old copy of its tokens, or someone else has a copy. If several programs share the tokens, check where they ' +
        'are stored.',
    ],
    link: { label: 'See the agents of the workspace', url: agentsUrl },
    footer: 'If you no longer use it, ignore this email. Those tokens no longer give access.',
  })
}

/** Tells a person that the access of an agent of theirs ends soon. */
export function accessEndsMail(input: {
  clientName: string
  workspaceName: string
  expiresAt: Date
  now: Date
  agentUrl: string
}): MailContent {
  const { clientName, workspaceName, expiresAt, now, agentUrl } = input
  return compose({
    subject: `The access of ${clientName} to ${workspaceName} ends soon`,
    paragraphs: [
      `${clientName} can act for you in the workspace ${workspaceName}. This ends ${describeTime(expiresAt, now)}.`,
      'If you still use it, open the link below and prolong its access. You do not need to connect it again.',
    ],
    link: { label: 'See the agent', url: agentUrl },
    footer: `If you no longer use it, ignore this email: the access ends by itself. ${noticeFooter}`,
  })
}

/** Tells an owner that a webhook of the workspace was disabled, and why. */
export function webhookDisabledMail(input: {
  name: string
  host: string
  reason: WebhookDisabledReason
  workspaceName: string
  webhookUrl: string
}): MailContent {
  const { name, host, reason, workspaceName, webhookUrl } = input
  const because: Record<WebhookDisabledReason, string> = {
    manual: 'someone disabled it',
    gone: 'its receiver answered that it is gone (410)',
    failing: 'nothing could be delivered to it for three days',
  }
  return compose({
    subject: `A webhook of ${workspaceName} was disabled`,
    paragraphs: [
      `Hello ${name}, check the receiver at ${host}, then open the link below and enable the webhook again.`,
      `The webhook of the workspace ${workspaceName} to ${host} was disabled, because ${because[reason]}. It gets no events ` +
        'until you enable it. Then you can send it the events that it missed.',
    ],
    link: { label: 'Open the webhook', url: webhookUrl },
    footer: 'You receive this email because you are an owner of the workspace.',
  })
}

const noticeFooter =
  'You receive this email because notifications about activity in your workspaces are on in your settings.'
