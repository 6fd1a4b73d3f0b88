import type { AgentRequestState } from './agent-requests.ts'
import { locateSecrets, nameSecrets, type KnownSecrets } from './known-secrets.ts'
import type { AskedAs, SeedStatus, Verdict } from './seeds.ts'

/** What people are told of. */
export const notificationKinds = [
  'mention',
  'comment',
  'evidence',
  'status',
  'invite_accepted',
  'role_changed',
  'agent',
  'key_stopped',
  'keys_known',
  'invite_undeliverable',
  'asked_to_join',
  'decision_due',
  'merged',
  'agent_asked',
  'agent_request',
] as const

/** What is told of the seeds of a workspace: the inbox of an agent has nothing else. */
export const toldKinds = [
  'mention',
  'comment',
  'evidence',
  'status',
  'asked_to_join',
  'decision_due',
  'agent_request',
] as const satisfies NotificationKind[]

/** What is told to owners and admins alone, since members and viewers do not see the people whom it names. */
export const managerKinds: readonly NotificationKind[] = [
  'invite_accepted',
  'key_stopped',
  'keys_known',
  'invite_undeliverable',
]

export type NotificationKind = (typeof notificationKinds)[number]

/** What the text of a notification is made of, by its kind. Never the name of a person, nor a text of theirs. */
export interface NotificationDataByKind {
  mention: { evidenceId: string | null }
  comment: { evidenceId: string | null }
  evidence: { evidenceId: string; verdict: Verdict }
  status: { from: SeedStatus; to: SeedStatus }
  /** Another seed was merged into the seed, or taken out of it again. */
  merged: { fromSeedId: string; isUndone: boolean }
  /** Somebody asks the person to join the seed. It is the request, and ends with it. */
  asked_to_join: { as: AskedAs }
  /** The seed is to be decided by this date (UTC), and is not. */
  decision_due: { decideBy: string }
  invite_accepted: Record<string, never>
  role_changed: { role: string }
  /** The access of an agent of the person ended, or ends soon, or the organization of the person gave it. */
  agent: {
    grantId: string
    clientName: string
    reason: 'revoked' | 'reused' | 'ends_soon' | 'given'
    endsAt?: string
  }
  /** Somebody asks an agent of the person. */
  agent_asked: AskedOfAgent
  /** What the person asked of an agent has ended. */
  agent_request: AskedOfAgent & { state: Exclude<AgentRequestState, 'waiting'> }
  /** API keys of somebody who is not a member any more: one of them as people recognize it, and how many. */
  key_stopped: { key: string; count: number }
  /** Somebody who was shown secrets of the workspace is no longer an owner or admin, or was suspended; or one was used since. */
  keys_known: KnownSecrets & {
    isSuspended?: boolean
    /** The invite that was made with the secret since. */
    inviteId?: string
  }
  /** An invite of the person: the mail server says that there is no such address. */
  invite_undeliverable: Record<string, never>
}

/** What was asked of an agent. */
interface AskedOfAgent {
  agentRequestId: string
  grantId: string
  clientName: string
}

/** Where people are told of what is for them: by mail too, or in the inbox alone. */
export const personalChoices = ['mail', 'inbox'] as const
/** Where they are told of the rest; `off`: nowhere. */
export const noticeChoices = [...personalChoices, 'off'] as const

/** How a person is told of what, while they get mails about their workspaces at all. */
export interface NotificationPreferences {
  mentions: (typeof personalChoices)[number]
  /** Whether there is a daily mail about what no other mail was about. */
  digest: boolean
  roleChanges: (typeof personalChoices)[number]
  acceptedInvites: (typeof noticeChoices)[number]
  /** The access of their agents. What is about security is always told. */
  agents: (typeof noticeChoices)[number]
  /** Others ask their agents. */
  agentRequests: (typeof noticeChoices)[number]
  /** Seeds that they lead or follow are to be decided soon. */
  decisions: (typeof noticeChoices)[number]
}

export type NotificationData = NotificationDataByKind[NotificationKind]

/** How long a notification is kept. */
export const notificationKeptMs = 90 * 24 * 60 * 60 * 1000
/** The most unread notifications that are counted. */
export const unreadCountMax = 100
/** How long a mention waits to be read before it is mailed. */
export const mentionMailedAfterMs = 5 * 60 * 1000

/** A notification as it is stored, with what its text and its path are made of. */
export interface StoredNotification<Kind extends NotificationKind = NotificationKind> {
  kind: Kind
  data: NotificationDataByKind[Kind]
  workspaceSlug: string
  workspaceName: string
  seedId: string | null
  seedTitle: string | null
  /** Of `merged`: the title of the other seed, unless it is gone. */
  mergedTitle: string | null
  commentId: string | null
  actorUserId: string | null
  actorName: string
  agentName: string | null
}

/** What there is to know about a kind of notifications. */
interface NotificationWords<Kind extends NotificationKind> {
  /** A sentence for people. */
  describe: (notification: StoredNotification<Kind>, actor: string) => string
  /** The sentence below the title of the seed that it is about, without that; by default as `describe`. */
  describeBelowTitle?: (notification: StoredNotification<Kind>, actor: string) => string
  /** The path on the website, below that of the workspace, of what it is about. */
  locate: (notification: StoredNotification<Kind>) => string
}

/** What evidence of each verdict says about its seed. */
const verdictWords: Record<Verdict, string> = {
  supports: 'evidence that supports',
  contradicts: 'evidence that contradicts',
  neutral: 'neutral evidence to',
}

const dayFormat = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' })

function formatDay(time: string): string {
  return dayFormat.format(new Date(time))
}

/** The most secrets that a notification names. */
const namedSecretsMax = 10

/** The text and the path of each kind of notifications. */
const notificationWords: { [Kind in NotificationKind]: NotificationWords<Kind> } = {
  mention: {
    describe: ({ seedTitle }, actor) => `${actor} mentioned you in ${seedTitle}`,
    describeBelowTitle: (_, actor) => `${actor} mentioned you`,
    locate: pathOfComment,
  },
  comment: {
    describe: ({ seedTitle, data }, actor) =>
      `${actor} commented on ${data.evidenceId === null ? '' : 'evidence in '}${seedTitle}`,
    describeBelowTitle: ({ data }, actor) =>
      `${actor} commented${data.evidenceId === null ? '' : ' on evidence'}`,
    locate: pathOfComment,
  },
  evidence: {
    describe: ({ seedTitle, data }, actor) => `${actor} added ${verdictWords[data.verdict]} ${seedTitle}`,
    describeBelowTitle: ({ data }, actor) => `${actor} added ${verdictWords[data.verdict]} this seed`,
    locate: ({ seedId, data }) => `/seeds/${seedId}#evidence-${data.evidenceId}`,
  },
  status: {
    describe: ({ seedTitle, data }, actor) =>
      `${actor} changed the status of ${seedTitle} from ${data.from} to ${data.to}`,
    describeBelowTitle: ({ data }, actor) => `${actor} changed the status from ${data.from} to ${data.to}`,
    locate: ({ seedId }) => `/seeds/${seedId}`,
  },
  asked_to_join: {
    describe: ({ seedTitle, data }, actor) => `${actor} asks you to ${verbOf(data.as)} ${seedTitle}`,
    describeBelowTitle: ({ data }, actor) => `${actor} asks you to ${verbOf(data.as)} this seed`,
    locate: ({ seedId }) => `/seeds/${seedId}#people`,
  },
  decision_due: {
    describe: ({ seedTitle, data }) => `${seedTitle} is to be decided by ${formatDay(data.decideBy)}`,
    describeBelowTitle: ({ data }) => `This seed is to be decided by ${formatDay(data.decideBy)}`,
    locate: ({ seedId }) => `/seeds/${seedId}`,
  },
  merged: {
    describe: ({ seedTitle, mergedTitle, data }, actor) =>
      `${actor} ${verbOfMerge(data, mergedTitle)} ${seedTitle}${data.isUndone ? ' again' : ''}`,
    describeBelowTitle: ({ mergedTitle, data }, actor) =>
      `${actor} ${verbOfMerge(data, mergedTitle)} this seed${data.isUndone ? ' again' : ''}`,
    locate: ({ seedId }) => `/seeds/${seedId}`,
  },
  invite_accepted: {
    describe: ({ workspaceName }, actor) => `${actor} accepted your invite to ${workspaceName}`,
    locate: ({ actorUserId }) => (actorUserId === null ? '/people' : `/people/${actorUserId}`),
  },
  role_changed: {
    describe: ({ workspaceName, data }, actor) =>
      `${actor} changed your role in ${workspaceName} to ${data.role}`,
    locate: () => '',
  },
  agent: {
    describe: ({ workspaceName, data }, actor) => {
      const { clientName, reason, endsAt } = data
      if (reason === 'given')
        return `Your organization gave ${clientName} access to ${workspaceName}, where it acts for you`
      if (reason === 'revoked') return `${actor} revoked the access of ${clientName} to ${workspaceName}`
      if (reason === 'reused')
        return `The access of ${clientName} to ${workspaceName} ended, because one of its tokens was used twice`
      const day = endsAt === undefined ? 'soon' : `on ${formatDay(endsAt)}`
      return `The access of ${clientName} to ${workspaceName} ends ${day}`
    },
    locate: ({ data }) =>
      data.reason === 'ends_soon' || data.reason === 'given' ? `/agents/${data.grantId}` : '/agents',
  },
  agent_asked: {
    describe: ({ seedTitle, data }, actor) => `${actor} asked your agent ${data.clientName} in ${seedTitle}`,
    describeBelowTitle: ({ data }, actor) => `${actor} asked your agent ${data.clientName}`,
    locate: pathOfComment,
  },
  agent_request: {
    describe: ({ seedTitle, data }, actor) => endOfRequest(data, actor, ` in ${seedTitle}`),
    describeBelowTitle: ({ data }, actor) => endOfRequest(data, actor),
    locate: pathOfComment,
  },
  key_stopped: {
    describe: ({ workspaceName, data: { key, count } }) =>
      count === 1
        ? `The API key ${key} stopped in ${workspaceName}: its owner is not a member any more`
        : `The API key ${key} and ${count - 1} more stopped in ${workspaceName}: their owner is not a member any more`,
    locate: () => '/settings/api-keys',
  },
  invite_undeliverable: {
    describe: ({ workspaceName }) =>
      `An invite of yours to ${workspaceName} could not be delivered: there is no such address`,
    locate: () => '/invites',
  },
  keys_known: {
    describe: ({ workspaceName, data: { isSuspended = false, inviteId, ...known } }) => {
      const names = nameSecrets(known)
      const left = names.slice(namedSecretsMax).length
      const list = new Intl.ListFormat('en-GB').format([
        ...names.slice(0, namedSecretsMax),
        ...(left > 0 ? [`${left} more`] : []),
      ])
      if (inviteId !== undefined)
        return `Somebody was invited to ${workspaceName} with ${list}, which a former owner or admin knows. Rotate it, and look at the invite`
      const state = isSuspended ? 'was suspended' : 'is no longer an owner or admin'
      return `Somebody who knows secrets of ${workspaceName} ${state}. Rotate ${list}`
    },
    locate: ({ data }) => locateSecrets(data),
  },
}

function verbOf(as: AskedAs): string {
  return as === 'lead' ? 'join and lead' : 'join'
}

function verbOfMerge({ isUndone }: NotificationDataByKind['merged'], title: string | null): string {
  const other = title ?? 'another seed'
  return isUndone ? `took ${other} out of` : `merged ${other} into`
}

/** What became of a request, and where it was made. */
function endOfRequest(
  { state, clientName }: NotificationDataByKind['agent_request'],
  actor: string,
  where = '',
): string {
  switch (state) {
    case 'answered':
      return `${actor} answered your request${where}`
    case 'declined':
      return `${actor} declined your request${where}`
    case 'expired':
      return `${clientName} did not answer your request${where} in time`
    case 'cancelled':
      return `Your request to ${clientName}${where} was cancelled`
  }
}

function pathOfComment({ seedId, commentId }: StoredNotification): string {
  return `/seeds/${seedId}#comment-${commentId}`
}

/** The texts of a notification, and the path on the website of what it is about. */
export function describeNotification(notification: StoredNotification): {
  text: string
  textBelowTitle: string
  path: string
} {
  const { kind, actorName, agentName, workspaceSlug } = notification
  // Of the kind of the notification: the table has the same kinds as the data.
  const words = notificationWords[kind] as NotificationWords<NotificationKind>
  const { describe, describeBelowTitle = describe, locate } = words
  const actor = agentName === null ? actorName : `${agentName} for ${actorName}`
  return {
    text: describe(notification, actor),
    textBelowTitle: describeBelowTitle(notification, actor),
    path: `/w/${workspaceSlug}${locate(notification)}`,
  }
}

/** Notifications with those of one seed together, in the order of the first of each; others are on their own. */
export function groupBySeed<Told extends { seedId: string | null }>(
  notifications: readonly Told[],
): [Told, ...Told[]][] {
  const groups = new Map<unknown, [Told, ...Told[]]>()
  for (const notification of notifications) {
    const key = notification.seedId ?? notification
    const known = groups.get(key)
    if (known) known.push(notification)
    else groups.set(key, [notification])
  }
  return [...groups.values()]
}

const newsWords: Partial<Record<NotificationKind, [one: string, many: string]>> = {
  mention: ['mention', 'mentions'],
  comment: ['new comment', 'new comments'],
  evidence: ['new piece of evidence', 'new pieces of evidence'],
  status: ['change of status', 'changes of status'],
  merged: ['merge', 'merges'],
  asked_to_join: ['request to join', 'requests to join'],
  agent_asked: ['request to your agents', 'requests to your agents'],
  agent_request: ['answer to your requests', 'answers to your requests'],
  decision_due: ['reminder to decide', 'reminders to decide'],
}

/** What is new in a seed, such as `2 new comments and 1 change of status`. */
export function countNews(notifications: readonly { kind: NotificationKind }[]): string {
  const counts = Object.entries(newsWords).flatMap(([kind, [one, many]]) => {
    const count = notifications.filter((notification) => notification.kind === kind).length
    return count === 0 ? [] : [`${count} ${count === 1 ? one : many}`]
  })
  return new Intl.ListFormat('en-GB').format(counts)
}
