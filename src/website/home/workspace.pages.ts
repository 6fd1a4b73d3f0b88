import type { WorkspaceEvent } from '../../areas/events/events.service.ts'
import type { Services } from '../../services/services.ts'
import { parseJson } from '../../kernel/json-text.ts'
import { joinRuns } from '../activity/event-runs.ts'
import { addDismissed, isDismissed, stepTypes } from './first-steps.ts'
import { renderHome } from './home.views.ts'
import { readChangesUrl, readEventContext, withoutRepeated } from '../views/events.views.ts'
import type { Page } from '../plugins/pages.ts'
import type { WorkspacePages, WorkspaceVisit } from '../plugins/workspace-visit.ts'

const shownMembers = 12
const shownSeeds = 5
const shownEvents = 8
/** So many events are looked at, since those of a run are shown as one. */
const readEvents = 200
const shownInvites = 5
const shownNotifications = 30

type HomeServices = Pick<
  Services,
  'events' | 'grants' | 'members' | 'notifications' | 'callerActivity' | 'receivedInvites' | 'seeds'
>

/** The home of a workspace: what waits for the person, seeds in progress, people and activity. */
export function workspacePages({ page, action }: WorkspacePages, services: HomeServices): void {
  const { events, grants, members, notifications, callerActivity, receivedInvites, seeds } = services
  const show = async (visit: WorkspaceVisit): Promise<Page> => {
    const { principal, request, workspace } = visit
    const { slug, workspaceId } = workspace
    const listSeeds = (status: 'open' | 'validating') =>
      seeds.list(principal, slug, { status, sort: 'updatedAt', limit: shownSeeds })
    const changesUrl = await readChangesUrl({ events }, visit)
    const [open, validating, own, unread, people, feed, endedAgents, invited] = await Promise.all([
      listSeeds('open'),
      listSeeds('validating'),
      callerActivity.find(principal, slug, stepTypes),
      // The number at the bell was read with the session.
      request.visit.shell?.unreadCount !== 0
        ? notifications.listShown(principal, { isUnreadOnly: true, workspaceId, limit: shownNotifications })
        : undefined,
      members.list(principal, slug, { limit: shownMembers }),
      events.list(principal, slug, { limit: readEvents }),
      grants.listEnded(principal, slug),
      receivedInvites.list(principal, { limit: shownInvites }),
    ])
    const listed = withoutRepeated(parseJson(feed.items))
    const happened = listed.filter((event) => !isOfExamples(event))
    const shown = joinRuns(happened, { max: shownEvents, isCut: feed.nextCursor !== null })
    return renderHome(visit, {
      changesUrl,
      seeds: [...parseJson(open.items), ...parseJson(validating.items)]
        .toSorted((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1))
        .slice(0, shownSeeds),
      dueOf: (seed) => seeds.dueOf(seed),
      endedAgents,
      toDo: {
        notifications: unread ? parseJson(unread.items) : [],
        hasMoreNotifications: unread ? unread.nextCursor !== null : false,
        invited: parseJson(invited.items),
        dueSeeds: own.dueSeeds,
        idleSeeds: own.idleSeeds,
      },
      members: parseJson(people.items),
      hasMoreMembers: people.nextCursor !== null,
      events: shown,
      hasExamples: happened.length < listed.length,
      eventContext: await readEventContext({ events, grants }, visit, shown),
      doneSteps: own.isNew && !isDismissed(request, workspaceId) ? own : undefined,
    })
  }

  page('', show)

  action('/first-steps', '', async (visit) => {
    addDismissed(visit)
    return visit.base
  })
}

/** Whether an event is of the examples of the first start: in the name of a person, but nothing that they did. */
function isOfExamples({ type, source, actorUserId }: WorkspaceEvent): boolean {
  return source === 'system' && actorUserId !== null && /^(seed|evidence|workspace)\./.test(type)
}
