import type { Database } from '../../db/client.ts'
import type { Clock } from '../../kernel/clock.ts'
import { grantEndNoticedMs } from '../../domain/agent.ts'
import { toShownBody } from '../../domain/comments.ts'
import { mailSettingsUrlOf } from '../../domain/links.ts'
import {
  countNews,
  describeNotification,
  groupBySeed,
  type StoredNotification,
} from '../../domain/notifications.ts'
import { dayAfter, silentSince } from '../../domain/seeds.ts'
import { toPlainText } from '../../kernel/markdown.ts'
import { shorten } from '../../kernel/text.ts'
import { accessEndsMail } from '../../mail/access-mails.ts'
import type { MailItem } from '../../mail/compose.ts'
import { digestMail, invitesAcceptedMail, mentionMail, type DueSeeds } from '../../mail/workspace-mails.ts'
import { JobEndsError, type JobHandlers, type JobQueue } from '../../platform/jobs/jobs.port.ts'
import type { Mails } from '../../mail/mails.ts'
import { countDueSeeds, dueCountMax } from './due-seeds.repository.ts'
import { notifyMembers } from './notify.repository.ts'
import {
  findAcceptedInvites,
  findDigest,
  findEndingGrant,
  findQuotes,
  listDueDigests,
  listEndingGrants,
  listInvitersToMail,
  listMentioned,
  markMailed,
  recordDigest,
  settleUnmailed,
  type QuotedComment,
  type Unmailed,
} from './recipients.repository.ts'
import type { UnsubscribeLinks } from './unsubscribe-links.ts'

const minuteMs = 60 * 1000
// Less than a day, since the hourly job does not run at the same second: otherwise a digest would be an hour later each day.
const digestEveryMs = 23.5 * 60 * minuteMs
// Who is at work reads it there first.
const digestAfterMs = 60 * minuteMs
// Of one hour. The rest follows an hour later.
const digestsMax = 1000
const endingGrantsMax = 1000
/** The most notifications that a digest marks as mailed. */
const digestLengthMax = 1000
/** The most seeds, and other things, that it names, and texts that it quotes of each seed. */
const namedMax = 30
const quotesMax = 3
/** The most characters of a quote. */
const mentionQuoteMax = 500
const digestQuoteMax = 200
/** Of one hour. The rest follows an hour later. */
const invitersMax = 1000

/** The mails about notifications. */
export function createNotificationsJobs(options: {
  db: Database
  clock: Clock
  mails: Mails
  links: UnsubscribeLinks
  webUrl: string
}): Pick<JobHandlers, 'send_mentions' | 'send_digest' | 'send_accepted_invites' | 'send_access_ends'> {
  const { db, clock, mails, links, webUrl } = options
  const settingsUrl = mailSettingsUrlOf(webUrl)

  /** What a digest says of a seed, or of something else. */
  function toItem(news: Unmailed['notifications'], quotes: ReadonlyMap<string, QuotedComment>): MailItem {
    const [latest, ...others] = news
    const { seedId, seedTitle, workspaceName, workspaceSlug } = latest
    const { text, path } = describeNotification(latest)
    if (seedId === null) return { text: `${text}, in ${workspaceName}`, url: webUrl + path }
    const change = news.find(isOfStatus)
    return {
      text: seedTitle ?? '',
      url: webUrl + (others.length === 0 ? path : `/w/${workspaceSlug}/seeds/${seedId}`),
      note: `${countNews(news)}, in ${workspaceName}.${change ? ` The status is ${change.data.to} now.` : ''}`,
      // In the order in which they were written.
      quotes: news
        .slice(0, quotesMax)
        .reverse()
        .flatMap((notification) => {
          const quote = quotes.get(notification.id)
          if (!quote) return []
          const { textBelowTitle } = describeNotification(notification)
          return [{ text: textBelowTitle, quote: quoteOf(quote, digestQuoteMax) }]
        }),
    }
  }

  /** How many seeds are due in the workspaces of a person. */
  async function findDue(userId: string, now: Date): Promise<DueSeeds[]> {
    const dates = { today: dayAfter(0, now), weekEnd: dayAfter(6, now), silentSince: silentSince(now) }
    const found = await countDueSeeds(db, userId, dates)
    return found.map(({ workspaceName, workspaceSlug, ...counts }) => ({
      ...{ workspaceName, counts, countMax: dueCountMax },
      urlOf: (due) => `${webUrl}/w/${workspaceSlug}/seeds?due=${due}`,
    }))
  }

  return {
    async send_mentions({ commentId, noticeId }, job) {
      const failures: unknown[] = []
      for (const person of await listMentioned(db, { commentId, noticeId })) {
        const { userId, workspaceId, name, email, notification, comment } = person
        const { text, path } = describeNotification(notification)
        const { workspaceName } = notification
        const quote = quoteOf(comment, mentionQuoteMax)
        try {
          await mails.send(
            {
              ...mentionMail({ text, workspaceName, quote, url: webUrl + path, settingsUrl }),
              to: { name, address: email },
              id: `mention-${noticeId}-${userId}`,
              unsubscribeUrl: links.urlOf(userId),
            },
            job,
            { userId, workspaceId },
          )
        } catch (error) {
          // The others are mailed all the same; the job is tried again for this one.
          failures.push(error)
          continue
        }
        await markMailed(db, { userId, ids: [noticeId], now: clock.now() })
      }
      // Only when no other attempt could reach anybody.
      if (failures.length > 0 && failures.every((failure) => failure instanceof JobEndsError))
        throw new JobEndsError('mentions could not be mailed', { cause: new AggregateError(failures) })
      if (failures.length > 0) throw new AggregateError(failures, 'mentions could not be mailed')
    },

    async send_digest({ userId }, job) {
      const now = clock.now()
      const before = new Date(now.getTime() - digestEveryMs)
      const digest = await findDigest(db, userId, { before, limit: digestLengthMax })
      // All was read meanwhile, mails were turned off, or another digest was sent.
      if (!digest) return
      const { name, email, notifications } = digest
      const named = groupBySeed(notifications).slice(0, namedMax)
      const quoted = named.flatMap((news) => news.slice(0, quotesMax).map(({ id }) => id))
      const quotes = await findQuotes(db, userId, quoted)
      await mails.send(
        {
          ...digestMail({
            items: named.map((news) => toItem(news, quotes)),
            due: await findDue(userId, now),
            text: describeNotification(notifications[0]).text,
            count: notifications.length,
            unnamedCount: notifications.length - named.flat().length,
            inboxUrl: `${webUrl}/notifications`,
            settingsUrl,
          }),
          to: { name, address: email },
          id: `digest-${job.id}`,
          unsubscribeUrl: links.urlOf(userId),
        },
        job,
        { userId },
      )
      const ids = notifications.map((notification) => notification.id)
      await recordDigest(db, userId, { ids, now })
    },

    async send_accepted_invites({ userId }, job) {
      const told = await findAcceptedInvites(db, userId, digestLengthMax)
      // They have read it meanwhile, or turned mails off.
      if (!told) return
      const { name, email, notifications } = told
      const [{ workspaceSlug }] = notifications
      const isOfOne = notifications.every((notification) => notification.workspaceSlug === workspaceSlug)
      await mails.send(
        {
          ...invitesAcceptedMail({
            accepted: notifications.slice(0, namedMax).map((notification) => ({
              memberName: notification.actorName,
              workspaceName: notification.workspaceName,
              url: webUrl + describeNotification(notification).path,
            })),
            count: notifications.length,
            link: isOfOne
              ? { label: 'Open the workspace', url: `${webUrl}/w/${workspaceSlug}` }
              : { label: 'Open your notifications', url: `${webUrl}/notifications` },
            settingsUrl,
          }),
          to: { name, address: email },
          id: `invites-accepted-${job.id}`,
          unsubscribeUrl: links.urlOf(userId),
        },
        job,
        { userId },
      )
      await markMailed(db, { userId, ids: notifications.map(({ id }) => id), now: clock.now() })
    },

    async send_access_ends({ grantId, expiresAt: time }, job) {
      const [now, expiresAt] = [clock.now(), new Date(time)]
      // It was revoked or prolonged meanwhile, or mails are off.
      const grant = await findEndingGrant(db, { grantId, expiresAt, now })
      if (!grant) return
      const { userId, name, email, clientName, workspaceId, workspaceName, workspaceSlug } = grant
      const agentUrl = `${webUrl}/w/${workspaceSlug}/agents/${grantId}`
      await mails.send(
        {
          ...accessEndsMail({ clientName, workspaceName, expiresAt, now, agentUrl, settingsUrl }),
          to: { name, address: email },
          id: `access-ends-${grantId}-${expiresAt.getTime()}`,
          unsubscribeUrl: links.urlOf(userId),
        },
        job,
        { userId, workspaceId },
      )
    },
  }
}

function isOfStatus<Told extends StoredNotification>(
  notification: Told,
): notification is Told & StoredNotification<'status'> {
  return notification.kind === 'status'
}

/** The beginning of what somebody wrote, as it reads without Markdown. */
function quoteOf({ body, mentions }: QuotedComment, lengthMax: number): string {
  const names = new Map(mentions.map(({ userId, name }) => [userId, name]))
  return shorten(toPlainText(toShownBody(body, names)), lengthMax)
}

// Another process that enqueues at the same moment replaces the job. One that ran already would leave a second mail to it.
const inOne = { requestId: undefined, delaySeconds: 1 }

/**
 * Enqueues the mails to people whose invites were accepted. Once an hour, so that many who come at once are one mail: what is
 * to be mailed are the notifications themselves.
 */
export async function enqueueAcceptedInvites({ db, jobs }: { db: Database; jobs: JobQueue }): Promise<void> {
  for (const userId of await listInvitersToMail(db, invitersMax))
    await jobs.enqueue(
      db,
      'send_accepted_invites',
      { userId },
      { key: `accepted-invites:${userId}`, ...inOne },
    )
}

/** Enqueues the digests that are due. Once an hour; each person gets one a day at most. */
export async function enqueueDigests({
  db,
  clock,
  jobs,
}: {
  db: Database
  clock: Clock
  jobs: JobQueue
}): Promise<void> {
  const now = clock.now()
  const ago = (ms: number) => new Date(now.getTime() - ms)
  await settleUnmailed(db, { before: ago(digestAfterMs), now })
  const due = { until: ago(digestAfterMs), before: ago(digestEveryMs), limit: digestsMax }
  for (const userId of await listDueDigests(db, due)) {
    // The key of the job: while the mail cannot be sent, there is one job for it.
    await jobs.enqueue(db, 'send_digest', { userId }, { key: `digest:${userId}`, ...inOne })
  }
}

/**
 * Tells people that the access of an agent of theirs ends within two weeks, in their inbox and by a mail of its own, once
 * for each end. Of longer access only. Once an hour.
 */
export async function notifyOfEndingGrants({
  db,
  clock,
  jobs,
}: {
  db: Database
  clock: Clock
  jobs: JobQueue
}): Promise<void> {
  const at = clock.now()
  const times = { now: at, noticedMs: grantEndNoticedMs }
  for (const grant of await listEndingGrants(db, { ...times, limit: endingGrantsMax })) {
    const { id, workspaceId, userId, clientName, expiresAt } = grant
    const endsAt = expiresAt.toISOString()
    const data = { grantId: id, clientName, reason: 'ends_soon', endsAt } as const
    // First, so that the mail is not lost if the process stops in between. There is one job for each end.
    const options = { requestId: undefined, key: `access-ends:${id}:${endsAt}` }
    await jobs.enqueue(db, 'send_access_ends', { grantId: id, expiresAt: endsAt }, options)
    await notifyMembers(db, { kind: 'agent', data, workspaceId, actor: null, at, hasOwnMail: true }, [userId])
  }
}
