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
