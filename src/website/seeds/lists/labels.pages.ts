import type { Services } from '../../../services/services.ts'
import type { Label } from '../../../areas/labels/labels.service.ts'
import { labelsMax } from '../../../domain/labels.ts'
import { errors } from '../../../kernel/errors.ts'
import { parseJson } from '../../../kernel/json-text.ts'
import { pageLimitMax } from '../../../kernel/pagination.ts'
import { labelLengthMax } from '../../../kernel/text.ts'
import { renderAction, renderField, renderForm, renderNameForm, stateOf } from '../../components/forms.ts'
import { html } from '../../components/html.ts'
import { renderConfirmed, renderRows } from '../../components/lists.ts'
import { notice, renderDone } from '../../components/notice.ts'
import { readField } from '../../components/sent-form.ts'
import { countOf } from '../../components/words.ts'
import type { Page } from '../../plugins/pages.ts'
import { sectionOf, type WorkspacePages, type WorkspaceVisit } from '../../plugins/workspace-visit.ts'

/** The labels of a workspace. */
export function labelsPages(
  { page, action, creation }: WorkspacePages,
  { labels }: Pick<Services, 'labels'>,
): void {
  const pathOf = ({ request, workspace }: WorkspaceVisit) => ({
    slug: workspace.slug,
    labelId: request.params.id,
  })

  page('/labels', async (visit) => {
    const { items } = await labels.list(visit.principal, visit.workspace.slug, { limit: pageLimitMax })
    return renderList(visit, parseJson(items))
  })

  creation('/labels', '/labels', async ({ base, principal, request, workspace }) => {
    const { name } = await labels.create(principal, workspace.slug, { name: readField(request, 'name') })
    return { path: `${base}/labels`, notice: notice`“${name}” was created.` }
  })

  page('/labels/:id', async (visit) => {
    if (!visit.may('labels.update')) throw errors.roleInsufficient()
    return renderLabel(visit, await labels.get(visit.principal, pathOf(visit)))
  })

  action('/labels/:id/rename', '/labels/:id', async (visit) => {
    await labels.update(visit.principal, pathOf(visit), { name: readField(visit.request, 'name') })
    return { path: `${visit.base}/labels`, notice: notice`Saved.` }
  })

  action('/labels/:id/delete', '/labels/:id', async (visit) => {
    const name = await labels.delete(visit.principal, pathOf(visit))
    return { path: `${visit.base}/labels`, notice: notice`“${name}” was deleted.` }
  })
}

function renderList(visit: WorkspaceVisit, labels: readonly Label[]): Page {
  const { base, may, request, state } = visit
  return {
    title: 'Labels',
    section: sectionOf(visit, 'Seeds'),
    body: html`<p><a href="${base}/seeds">All seeds</a></p>
      <h1>Labels</h1>
      ${renderDone(request)}
      ${
        may('labels.create') &&
        renderForm({
          request,
          action: `${base}/labels`,
          state,
          fields: ['name'],
          className: 'line',
          body: html`${renderField({
              name: 'name',
              label: 'Label name',
              maxLength: labelLengthMax,
              autocomplete: 'off',
              state,
            })}<button>Create label</button>`,
        })
      }
      ${labels.length > 0 && html`<p class="hint">${countOf(labels.length, 'label')} of ${labelsMax}</p>`}
      ${renderRows(
        labels
          .toSorted((a, b) => a.name.localeCompare(b.name))
          .map(
            ({ id, name }) =>
              html`<div class="row">
                <div class="grow">
                  <a class="title" href="${base}/seeds?label=${id}"><bdi>${name}</bdi></a>
                </div>
                ${
                  may('labels.update') &&
                  html`<a class="button small quiet" href="${base}/labels/${id}"
                    >Edit<span class="visually-hidden"> <bdi>${name}</bdi></span></a
                  >`
                }
              </div>`,
          ),
        html`<p>No labels yet. Seeds can have labels, by which they are found.</p>`,
      )}`,
  }
}

function renderLabel(visit: WorkspaceVisit, { id, name }: Label): Page {
  const { base, may, request } = visit
  const path = `${base}/labels/${id}`
  const state = stateOf(visit.state, `${path}/rename`)
  return {
    title: name,
    section: sectionOf(visit, 'Seeds'),
    body: html`<p><a href="${base}/labels">All labels</a></p>
      <h1><bdi>${name}</bdi></h1>
      ${renderDone(request)}
      <p><a href="${base}/seeds?label=${id}">Seeds with this label</a></p>
      ${renderNameForm(request, { action: `${path}/rename`, state, name })}
      ${
        may('labels.delete') &&
        renderConfirmed({
          label: 'Delete label',
          description: html`<bdi>${name}</bdi>`,
          question: 'Seeds that have it lose it.',
          action: renderAction(request, {
            action: `${path}/delete`,
            label: 'Delete label',
            isDangerous: true,
          }),
        })
      }`,
  }
}
