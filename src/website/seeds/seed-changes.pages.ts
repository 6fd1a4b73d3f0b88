import { ApiError, errors } from '../../kernel/errors.ts'
import { askedAs, seedStatuses } from '../../domain/seeds.ts'
import { parseJson } from '../../kernel/json-text.ts'
import { versionsOf } from '../../kernel/edits.ts'
import type { Services } from '../../services/services.ts'
import { readOpened } from '../components/edits.ts'
import { readQuery } from '../components/lists.ts'
import { notice } from '../components/notice.ts'
import { readField, requireChoice } from '../components/sent-form.ts'
import type { WorkspacePages, WorkspaceVisit } from '../plugins/workspace-visit.ts'
import type { DeletedSeed } from './seed-deletion.views.ts'
import { readStateChange, stateNames } from './seed-criteria.views.ts'
import { statusNames } from './seed-status.views.ts'
import { readSeedForm } from './seed-form.views.ts'

/** The forms that change a seed. */
export function seedChangesPages(
  { action }: WorkspacePages,
  { people, seeds }: Pick<Services, 'people' | 'seeds'>,
): void {
  action('/seeds/:id/edit', '/seeds/:id/edit', async (visit) => {
    const { principal, request } = visit
    await seeds.update(principal, request.params.id, readSeedForm(request), readOpened(request))
    return { path: seedPath(visit), notice: notice`Saved.` }
  })

  action('/seeds/:id/status', '/seeds/:id', async (visit) => {
    const { principal, request } = visit
    const status = requireChoice(request, 'status', seedStatuses)
    const statusReason = readField(request, 'statusReason').trim()
    const change = { status, ...(statusReason !== '' && { statusReason }) }
    try {
      await seeds.update(principal, request.params.id, change, readOpened(request))
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== errors.changedMeanwhile.code) throw error
      // There is no text to compare, as the general message asks.
      const { status: now } = await seeds.get(principal, request.params.id)
      throw errors.changedMeanwhile({
        message: `Somebody else has changed the status meanwhile: it is ${statusNames[now].toLowerCase()} now. Nothing was saved.`,
      })
    }
    return { path: seedPath(visit), notice: notice`Status changed.` }
  })

  action('/seeds/:id/criteria', '/seeds/:id', async (visit) => {
    const { principal, request } = visit
    const { id } = request.params
    const { criterionId, from, to } = readStateChange(request)
    const { criteria } = await seeds.get(principal, id)
    const now = criteria.find((criterion) => criterion.id === criterionId)
    if (!now) throw errors.criterionNotFound()
    if (now.state !== from)
      throw errors.changedMeanwhile({
        message: `Somebody else has set the state meanwhile: it is ${stateNames[now.state].toLowerCase()} now. Nothing was saved.`,
      })
    const changed = criteria.map((criterion) => (criterion === now ? { ...criterion, state: to } : criterion))
    await seeds.update(principal, id, { criteria: changed }, versionsOf({ criteria }))
    return { path: seedPath(visit), notice: notice`${now.text}: ${stateNames[to].toLowerCase()}.` }
  })

  action('/seeds/:id/move', '/seeds', async ({ principal, request, base }) => {
    const status = requireChoice(request, 'status', seedStatuses)
    const opened = versionsOf({ status: readQuery(request, 'from') })
    try {
      await seeds.update(principal, request.params.id, { status }, opened)
    } catch (error) {
      if (error instanceof ApiError && error.code === errors.changedMeanwhile.code) throw errors.seedMoved()
      throw error
    }
    return { path: `${base}/seeds`, notice: notice`Moved to ${statusNames[status]}.` }
  })

  action('/seeds/:id/lead', '/seeds/:id', async (visit) => {
    const { principal, request } = visit
    const leadUserId = readField(request, 'leadUserId') || null
    await seeds.update(principal, request.params.id, { leadUserId }, readOpened(request))
    return { path: seedPath(visit), notice: notice`Lead changed.` }
  })

  action('/seeds/:id/join', '/seeds/:id', async (visit) => {
    await seeds.join(visit.principal, visit.request.params.id)
    return { path: seedPath(visit), notice: notice`You joined the seed.` }
  })

  action('/seeds/:id/ask', '/seeds/:id', async (visit) => {
    const { principal, request, workspace } = visit
    const q = readField(request, 'person').trim()
    const as = requireChoice(request, 'as', askedAs)
    const found = await people.list(principal, workspace.slug, { q, kind: 'member', limit: 2 })
    const [person, another] = parseJson(found.items)
    if (q === '' || person?.userId == null || another)
      throw errors.personNotAskable({
        field: 'person',
        message:
          q !== '' && another
            ? 'Several members match. Type more of the name, or the email address.'
            : 'No member of the workspace matches.',
      })
    await seeds.invitePerson(principal, request.params.id, { userId: person.userId, as })
    return { path: seedPath(visit), notice: notice`You asked ${person.name} to join.` }
  })

  action('/seeds/:id/leave', '/seeds/:id', async (visit) => {
    await seeds.leave(visit.principal, visit.request.params.id)
    return { path: seedPath(visit), notice: notice`You left the seed. Your evidence stays.` }
  })

  action('/seeds/:id/follow', '/seeds/:id', async (visit) => {
    await seeds.follow(visit.principal, visit.request.params.id)
    return { path: seedPath(visit), notice: notice`You follow the seed.` }
  })

  action('/seeds/:id/unfollow', '/seeds/:id', async (visit) => {
    await seeds.unfollow(visit.principal, visit.request.params.id)
    return { path: seedPath(visit), notice: notice`You no longer follow the seed.` }
  })

  action('/seeds/:id/delete', '/seeds/:id', async ({ principal, request, base }) => {
    const { id } = request.params
    const shown: DeletedSeed = { deletedId: id, deletedTitle: await seeds.delete(principal, id) }
    return { path: `${base}/seeds`, shown: { ...shown } }
  })

  action('/seeds/:id/restore', '/seeds/deleted', async (visit) => {
    await seeds.restore(visit.principal, visit.request.params.id)
    return { path: seedPath(visit), notice: notice`Restored.` }
  })
}

function seedPath({ base, request }: WorkspaceVisit): string {
  return `${base}/seeds/${request.params.id}`
}
