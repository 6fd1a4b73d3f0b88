import type { SeedStatus, Verdict } from './seeds.ts'

/** What people are told of. */
export const notificationKinds = [
  'mention',
  'comment',
  'evidence',
  'status',
  'invite_accepted',
  'role_changed',
  'agent',
] as const

export type NotificationKind = (typeof notificationKinds)[number]

/** What the text of a notification is made of, by its kind. Never the name of a person, nor a text of theirs. */
export interface NotificationDataByKind {
  mention: { evidenceId: string | null }
  comment: { evidenceId: string | null }
  evidence: { evidenceId: string; verdict: Verdict }
  status: { from: SeedStatus; to: SeedStatus }
  invite_accepted: Record<string, never>
  role_changed: { role: string }
  /** The access of an agent of the person ended, or ends soon. */
  agent: { grantId: string; clientName: string; reason: 'revoked' | 'reused' | 'ends_soon'; endsAt?: string }
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
  commentId: string | null
  actorUserId: string | null
  actorName: string
  agentName: string | null
}

/** What there is to know about a kind of notifications. */
interface NotificationWords<Kind extends NotificationKind> {
  /** A sentence for people. */
  describe: (notification: StoredNotification<Kind>, actor: string) => string
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

/** The text and the path of each kind of notifications. */
const notificationWords: { [Kind in NotificationKind]: NotificationWords<Kind> } = {
  mention: {
    describe: ({ seedTitle }, actor) => `${actor} mentioned you in ${seedTitle}`,
    locate: pathOfComment,
  },
  comment: {
    describe: ({ seedTitle, data }, actor) =>
      `${actor} commented on ${data.evidenceId === null ? '' : 'evidence in '}${seedTitle}`,
    locate: pathOfComment,
  },
  evidence: {
    describe: ({ seedTitle, data }, actor) => `${actor} added ${verdictWords[data.verdict]} ${seedTitle}`,
    locate: ({ seedId, data }) => `/seeds/${seedId}#evidence-${data.evidenceId}`,
  },
  status: {
    describe: ({ seedTitle, data }, actor) =>
      `${actor} changed the status of ${seedTitle} from ${data.from} to ${data.to}`,
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
      if (reason === 'revoked') return `${actor} revoked the access of ${clientName} to ${workspaceName}`
      if (reason === 'reused')
        return `The access of ${clientName} to ${workspaceName} ended, because one of its tokens was used twice`
      const day = endsAt === undefined ? 'soon' : `on ${dayFormat.format(new Date(endsAt))}`
      return `The access of ${clientName} to ${workspaceName} ends ${day}`
    },
    locate: ({ data }) => (data.reason === 'ends_soon' ? `/agents/${data.grantId}` : '/agents'),
  },
}

function pathOfComment({ seedId, commentId }: StoredNotification): string {
  return `/seeds/${seedId}#comment-${commentId}`
}

/** The text of a notification, and the path on the website of what it is about. */
export function describeNotification(notification: StoredNotification): { text: string; path: string } {
  const { kind, actorName, agentName, workspaceSlug } = notification
  // Of the kind of the notification: the table has the same kinds as the data.
  const { describe, locate } = notificationWords[kind] as NotificationWords<NotificationKind>
  const actor = agentName === null ? actorName : `${agentName} for ${actorName}`
  return { text: describe(notification, actor), path: `/w/${workspaceSlug}${locate(notification)}` }
}
