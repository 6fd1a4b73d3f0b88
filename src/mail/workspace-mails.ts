import { compose, type MailContent, type MailItem } from './compose.ts'
import { seedDues, silentDays, type SeedDue } from '../domain/seeds.ts'
import { describeTime, formatDuration } from './times.ts'
import { noticeEnd } from './words.ts'

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
  settingsUrl: string
}): MailContent {
  return compose({
    subject: `Your role in ${input.workspaceName} is now ${input.role}`,
    paragraphs: [
      `${input.actorName} changed your role in the workspace ${input.workspaceName} to ${input.role}.`,
      'You do not need to do anything.',
    ],
    link: { label: 'Open the workspace', url: input.workspaceUrl },
    ...noticeEnd(input.settingsUrl),
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

/** Tells a person who accepted their invites. */
export function invitesAcceptedMail(input: {
  /** The newest first; without the name of the workspace, if it is the same for all. */
  accepted: readonly { memberName: string; workspaceName: string; url: string }[]
  /** The number of all, also of those that are not in `accepted`. */
  count: number
  link: { label: string; url: string }
  settingsUrl: string
}): MailContent {
  const { accepted, count, link, settingsUrl } = input
  const names = new Set(accepted.map(({ workspaceName }) => workspaceName))
  const [where = ''] = names.size === 1 ? names : ['your workspaces']
  const [first] = accepted
  if (count === 1 && first) {
    return compose({
      subject: `${first.memberName} joined ${where}`,
      paragraphs: [
        `${first.memberName} accepted your invite to the workspace ${where}.`,
        'You do not need to do anything.',
      ],
      link,
      ...noticeEnd(settingsUrl),
    })
  }
  return compose({
    subject: `${count} people joined ${where}`,
    paragraphs: ['These people accepted your invites. You do not need to do anything.'],
    items: accepted.map(({ memberName, workspaceName, url }) => ({
      text: names.size === 1 ? memberName : `${memberName}, in ${workspaceName}`,
      url,
    })),
    ...afterItems(count - accepted.length),
    link,
    ...noticeEnd(settingsUrl, 'There is one such email an hour at most.'),
  })
}

/** Tells a person that somebody mentioned them. */
export function mentionMail(input: {
  text: string
  workspaceName: string
  /** What the comment says. */
  quote: string
  url: string
  settingsUrl: string
}): MailContent {
  const { text, workspaceName, quote, url, settingsUrl } = input
  return compose({
    subject: text,
    paragraphs: [`${text}, in the workspace ${workspaceName}:`],
    quote,
    link: { label: 'Open the comment', url },
    ...noticeEnd(settingsUrl),
  })
}

/** Reminds a person of seeds that are to be decided soon. */
export function remindersMail(input: {
  items: MailItem[]
  /** What the subject says of one reminder. */
  text: string
  /** The number of all reminders, also of those that are in no item. */
  count: number
  inboxUrl: string
  settingsUrl: string
}): MailContent {
  const { items, text, count, inboxUrl, settingsUrl } = input
  return compose({
    subject: count === 1 ? text : `${count} seeds are to be decided soon`,
    paragraphs: [
      count === 1
        ? 'A seed that you lead or follow is to be decided soon.'
        : 'Seeds that you lead or follow are to be decided soon.',
    ],
    items,
    ...afterItems(count - items.length),
    link: { label: 'Open your notifications', url: inboxUrl },
    ...noticeEnd(settingsUrl),
  })
}

/** Tells a person what they have not read. */
export function digestMail(input: {
  /** Seeds, and other things, the newest first. */
  items: MailItem[]
  /** The workspaces of the person in which seeds are due. */
  due: readonly DueSeeds[]
  /** What the subject says of the newest notification. */
  text: string
  /** The number of all notifications, and of those that are in no item. */
  count: number
  unnamedCount: number
  inboxUrl: string
  settingsUrl: string
}): MailContent {
  const { items, due, text, count, unnamedCount, inboxUrl, settingsUrl } = input
  return compose({
    subject: count === 1 ? text : `${text}, and ${count - 1} more`,
    paragraphs: [
      count === 1
        ? 'You have a notification that you have not read.'
        : 'You have notifications that you have not read.',
    ],
    items,
    ...afterItems(unnamedCount),
    furtherItems: due.map(toItemOfDue),
    link: { label: 'Open your notifications', url: inboxUrl },
    ...noticeEnd(settingsUrl, 'There is one such email a day at most.'),
  })
}

/** How many seeds of a workspace are due, up to a number that stands for more. */
export interface DueSeeds {
  workspaceName: string
  counts: Record<SeedDue, number>
  countMax: number
  /** The list of the seeds that are due so. */
  urlOf: (due: SeedDue) => string
}

const dueWords: Record<SeedDue, string> = {
  overdue: 'overdue',
  week: 'due within 7 days',
  silent: `without evidence for ${silentDays} days`,
}

/** Links to those of the first kind; the page has the others. */
function toItemOfDue({ workspaceName, counts, countMax, urlOf }: DueSeeds): MailItem {
  const [first = 'overdue', ...others] = seedDues.filter((due) => counts[due] > 0)
  const words = [first, ...others].map(
    (due) => `${counts[due]}${counts[due] < countMax ? '' : ' or more'} ${dueWords[due]}`,
  )
  return { text: `Seeds in ${workspaceName}: ${listFormat.format(words)}`, url: urlOf(first) }
}

const listFormat = new Intl.ListFormat('en-GB')

function afterItems(count: number) {
  return count > 0 ? { afterItems: `And ${count} more.` } : {}
}
