import type { Changes } from '../../access/change.ts'
import type { RequireWorkspace } from '../../access/workspace-access.ts'
import type { Database, Executor } from '../../db/client.ts'
import { labelsMax } from '../../domain/labels.ts'
import type { ExpectingCall, Principal } from '../../domain/principal.ts'
import { errors } from '../../kernel/errors.ts'
import { createId, isId } from '../../kernel/ids.ts'
import { readPage, type Page, type PageRequest } from '../../kernel/pagination.ts'
import { requireLabel } from '../../kernel/text.ts'
import { assertExpected, versionOfFields } from '../../kernel/versions.ts'
import { lockWorkspace } from '../workspaces/workspaces.repository.ts'
import {
  countLabels,
  deleteLabel,
  findLabel,
  insertLabel,
  listChoices,
  listLabels,
  lockLabel,
  renameLabel,
  type SortingChoices,
} from './labels.repository.ts'
import type { Label } from './labels.schemas.ts'

export type { Label }

/** A label and its workspace. Methods throw `not_found` for a label of another workspace. */
export interface LabelPath {
  slug: string
  labelId: string
}

/** The labels of workspaces. */
export interface LabelsService {
  /** Oldest first. */
  list(principal: Principal, slug: string, page: PageRequest): Promise<Page<Label>>
  /** What the seeds of a workspace can be sorted by: its labels, and the first of its teams. One round trip. */
  listChoices(principal: Principal, slug: string): Promise<SortingChoices>
  get(principal: Principal, path: LabelPath): Promise<Label>
  /** Throws `label_invalid`, `label_name_taken` and `label_limit`. */
  create(principal: Principal, slug: string, input: { name: string }): Promise<Label>
  /** Throws `label_invalid`, `label_name_taken` and `precondition_failed`. */
  update(principal: ExpectingCall, path: LabelPath, input: { name: string }): Promise<void>
  /** No seed has it any more. Returns its name. */
  delete(principal: Principal, path: LabelPath): Promise<string>
}

/** The version of a label: of what people change in it. */
export const versionOfLabel = (label: { name: string }) => versionOfFields(label, ['name'])

export interface LabelsServiceOptions {
  db: Database
  changes: Changes
  requireWorkspace: RequireWorkspace
}

export function createLabelsService(options: LabelsServiceOptions): LabelsService {
  const { db, changes, requireWorkspace } = options

  return {
    async list(principal, slug, page) {
      const { id: workspaceId } = await requireWorkspace(principal, slug, 'labels.list')
      return readPage<Label>(page, {
        listId: `labels.list ${workspaceId}`,
        order: 'oldestFirst',
        read: (range) => listLabels(db, { workspaceId, ...range }),
        positionOf: ({ createdAt, id }) => ({ at: createdAt, id }),
      })
    },

    async listChoices(principal, slug) {
      const { id } = await requireWorkspace(principal, slug, 'labels.list')
      return listChoices(db, id)
    },

    async get(principal, { slug, labelId }) {
      const { id } = await requireWorkspace(principal, slug, 'labels.get')
      const label = isId(labelId) ? await findLabel(db, id, labelId) : undefined
      if (!label) throw errors.notFound()
      return { ...label, createdAt: label.createdAt.toISOString() }
    },

    async create(principal, slug, input) {
      const { id: workspaceId, ...workspace } = await requireWorkspace(principal, slug, 'labels.create')
      const label = { id: createId(), workspaceId, name: requireLabel(input.name) }
      // Two at once do not both create the last label that there may be.
      const lock = (tx: Executor) => lockWorkspace(tx, workspaceId)
      const place = { ...workspace, id: workspaceId }
      return changes.makeIn(principal, place, lock, async ({ tx, now, appendEvent }) => {
        if ((await countLabels(tx, workspaceId)) >= labelsMax) throw errors.labelLimit()
        await insertLabel(tx, { ...label, createdAt: now })
        appendEvent({ type: 'label.created', data: { labelId: label.id, labelName: label.name } })
        return { ...label, createdAt: now.toISOString() }
      })
    },

    async update(principal, { slug, labelId }, input) {
      const name = requireLabel(input.name)
      const workspace = await requireWorkspace(principal, slug, 'labels.update')
      if (!isId(labelId)) throw errors.notFound()
      const lock = async (tx: Executor) => {
        // Serializes renames: two that swap names would deadlock on the unique index.
        await lockWorkspace(tx, workspace.id)
        return lockLabel(tx, workspace.id, labelId)
      }
      await changes.makeIn(principal, workspace, lock, async ({ tx, appendEvent }, label) => {
        assertExpected(principal, versionOfLabel(label))
        principal.onVersion?.(versionOfLabel({ name }))
        if (name === label.name) return
        await renameLabel(tx, labelId, name)
        appendEvent({ type: 'label.updated', data: { labelId, from: label.name, to: name } })
      })
    },

    async delete(principal, { slug, labelId }) {
      const workspace = await requireWorkspace(principal, slug, 'labels.delete')
      if (!isId(labelId)) throw errors.notFound()
      const lock = (tx: Executor) => lockLabel(tx, workspace.id, labelId)
      return changes.makeIn(principal, workspace, lock, async ({ tx, appendEvent }, { name }) => {
        await deleteLabel(tx, labelId)
        appendEvent({ type: 'label.deleted', data: { labelId, labelName: name } })
        return name
      })
    },
  }
}
