import { compose, type MailContent } from './compose.ts'
import { describeTime, formatDuration } from './times.ts'
import { noticeFooter } from './words.ts'

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
      `For ${formatDuration(keptMs)} the operators of this service can restore it. After that, everything in it is erased.`,
    ],
    link: { label: 'Open your home page', url: homeUrl },
    footer:
      'If this was a mistake, ask the operators of this service to restore the workspace, and name its address.',
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
