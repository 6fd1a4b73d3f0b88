import type { Services } from '../../services/services.ts'
import { parseJson } from '../../kernel/json-text.ts'
import { addDismissed, isDismissed } from './first-steps.ts'
import { renderHome } from './home.views.ts'
import { readEventContext, withoutRepeated } from '../views/events.views.ts'
import type { Page } from '../plugins/pages.ts'
import type { WorkspacePages, WorkspaceVisit } from '../plugins/workspace-visit.ts'

const shownMembers = 12
const shownSeeds = 5
const shownEvents = 8
const shownInvites = 20
/** A workspace with more events is not new. */
const eventsOfNewMax = 50

/** The home of a workspace: what needs the person, seeds in progress, people and activity. */
export function workspacePages(
  { page, action }: WorkspacePages,
  {
    events,
    integrations,
    members,
    receivedInvites,
    seeds,
  }: Pick<Services, 'events' | 'integrations' | 'members' | 'receivedInvites' | 'seeds'>,
): void {
  const show = async (visit: WorkspaceVisit): Promise<Page> => {
    const { may, principal, workspace } = visit
    const { slug } = workspace
    const listSeeds = (status: 'open' | 'validating') =>
      seeds.list(principal, slug, { status, sort: 'updatedAt', limit: shownSeeds })
    const mayBeNew = may('workspaces.update') && !isDismissed(visit.request, workspace.workspaceId)
    const [open, validating, changedSeeds, people, feed, endedAgents, invited] = await Promise.all([
      listSeeds('open'),
      listSeeds('validating'),
      seeds.listChangedByOthers(principal, slug),
      members.list(principal, slug, { limit: shownMembers }),
      events.list(principal, slug, { limit: mayBeNew ? eventsOfNewMax : shownEvents }),
      integrations.listEnded(principal, slug),
      receivedInvites.list(principal, { limit: shownInvites }),
    ])
    const happened = parseJson(feed.items)
    const shown = withoutRepeated(happened).slice(0, shownEvents)
    return renderHome(visit, {
      seeds: [...parseJson(open.items), ...parseJson(validating.items)]
        .toSorted((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1))
        .slice(0, shownSeeds),
      changedSeeds,
      endedAgents,
      invited: parseJson(invited.items),
      members: parseJson(people.items),
      hasMoreMembers: people.nextCursor !== null,
      events: shown,
      eventContext: await readEventContext({ events, integrations }, visit, shown),
      happenedTypes:
        mayBeNew && feed.nextCursor === null ? new Set(happened.map(({ type }) => type)) : undefined,
    })
  }

  page('', show)

  action('/first-steps', '', async (visit) => {
    addDismissed(visit)
    return visit.base
  })
}
