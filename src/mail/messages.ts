/** What a mail says, for people and for mail programs without HTML. */
export interface MailContent {
  subject: string
  text: string
  html: string
}

/** Asks somebody into a workspace. */
export function inviteMail(input: {
  workspaceName: string
  invitedByName: string
  role: string
  inviteUrl: string
  expiresAt: Date
}): MailContent {
  const { workspaceName, invitedByName, role, inviteUrl, expiresAt } = input
  return compose({
    subject: `${invitedByName} invites you to ${workspaceName}`,
    paragraphs: [
      `${invitedByName} invites you to the workspace ${workspaceName}, as ${role}.`,
      `The invitation is for this address only and can be accepted until ${formatDate(expiresAt)}.`,
    ],
    link: { label: 'See the invitation', url: inviteUrl },
    footer: 'If you do not know what this is about, do nothing: the invitation expires by itself.',
  })
}

/** Tells somebody that they are something else in a workspace now. */
export function roleChangedMail(input: {
  workspaceName: string
  workspaceUrl: string
  actorName: string
  role: string
}): MailContent {
  return compose({
    subject: `You are ${input.role} of ${input.workspaceName} now`,
    paragraphs: [
      `${input.actorName} changed your role in the workspace ${input.workspaceName} to ${input.role}.`,
    ],
    link: { label: 'Open the workspace', url: input.workspaceUrl },
    footer: noticeFooter,
  })
}

/** Tells somebody that their invitation was accepted. */
export function inviteAcceptedMail(input: {
  workspaceName: string
  workspaceUrl: string
  memberName: string
}): MailContent {
  return compose({
    subject: `${input.memberName} joined ${input.workspaceName}`,
    paragraphs: [`${input.memberName} accepted your invitation to the workspace ${input.workspaceName}.`],
    link: { label: 'Open the workspace', url: input.workspaceUrl },
    footer: noticeFooter,
  })
}

/** Asks whoever signed up with an address to prove that it is theirs. */
export function verifyEmailMail(input: { name: string; url: string }): MailContent {
  return compose({
    subject: 'Confirm your e-mail address',
    paragraphs: [
      `Hello ${input.name}, an account was made with this address.`,
      'Confirm that it is yours to sign in. The link works for a day.',
    ],
    link: { label: 'Confirm the address', url: input.url },
    footer: 'If that was not you, do nothing: without your confirmation nobody can use the account.',
  })
}

/** Tells somebody who signed up once more that there is an account. */
export function accountExistsMail(input: { name: string; signInUrl: string }): MailContent {
  return compose({
    subject: 'You have an account already',
    paragraphs: [
      `Hello ${input.name}, somebody tried to sign up with this address, which has an account already.`,
      'If that was you, sign in. On the same page you can have a new password if you have forgotten yours.',
    ],
    link: { label: 'Sign in', url: input.signInUrl },
    footer: 'If that was not you, there is nothing to do: nothing has changed.',
  })
}

/** Lets somebody choose a new password. */
export function resetPasswordMail(input: { name: string; url: string }): MailContent {
  return compose({
    subject: 'Choose a new password',
    paragraphs: [
      `Hello ${input.name}, here you can choose a new password. The link works for an hour, and once.`,
    ],
    link: { label: 'Choose a new password', url: input.url },
    footer: 'If you did not ask for this, do nothing: your password stays as it is.',
  })
}

/** Lets somebody in without a password. */
export function signInLinkMail(input: { name: string; url: string }): MailContent {
  return compose({
    subject: 'Your link to sign in',
    paragraphs: [`Hello ${input.name}, with this link you sign in. It works for 15 minutes, and once.`],
    link: { label: 'Sign in', url: input.url },
    footer: 'If you did not ask for this, do nothing, and give the link to nobody.',
  })
}

/** Tells somebody that their password is another one now. */
export function passwordChangedMail(input: { name: string; forgotUrl: string }): MailContent {
  return compose({
    subject: 'Your password was changed',
    paragraphs: [
      `Hello ${input.name}, the password of your account was changed just now, and other sessions were ended.`,
      'If that was not you, choose a new one at once.',
    ],
    link: { label: 'Choose a new password', url: input.forgotUrl },
    footer: 'If that was you, there is nothing to do.',
  })
}

const noticeFooter = 'You receive this because your notices of workspace activity are on.'

interface MailParts {
  subject: string
  paragraphs: string[]
  link: { label: string; url: string }
  footer: string
}

function compose({ subject, paragraphs, link, footer }: MailParts): MailContent {
  const html = [
    ...paragraphs.map((paragraph) => `<p>${escapeHtml(paragraph)}</p>`),
    `<p><a href="${escapeHtml(link.url)}">${escapeHtml(link.label)}</a></p>`,
    `<p style="color:#666">${escapeHtml(footer)}</p>`,
  ]
  return {
    subject,
    text: [...paragraphs.map(wrap), `${link.label}:\n${link.url}`, wrap(footer), ''].join('\n\n'),
    html: `<!doctype html><html lang="en"><body style="font-family:system-ui,sans-serif">${html.join('')}</body></html>`,
  }
}

/** Breaks lines before 76 characters, beyond which they would be encoded and hard to read in the raw mail. */
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
