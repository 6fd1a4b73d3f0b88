import { Readable } from 'node:stream'
import type { Services } from '../../services/services.ts'
import { slugLengthMax } from '../../domain/slugs.ts'
import { renderField, renderForm, stateOf } from '../components/forms.ts'
import { html, type Html } from '../components/html.ts'
import { notice } from '../components/notice.ts'
import { readField } from '../components/sent-form.ts'
import type { Page } from '../plugins/pages.ts'
import { sectionOf, type WorkspacePages, type WorkspaceVisit } from '../plugins/workspace-visit.ts'

const deletePath = '/settings/delete'

/** What owners do with a whole workspace: export, transfer and delete it. */
export function ownershipPages(
  { page, action, download }: WorkspacePages,
  { ownership, exports }: Pick<Services, 'ownership' | 'exports'>,
): void {
  download('/settings/export', async ({ principal, workspace }) => {
    const { name, lines } = await exports.exportWorkspace(principal, workspace.slug)
    return { name, type: 'application/x-ndjson; charset=utf-8', content: Readable.from(lines) }
  })

  action('/members/:userId/transfer', '/people/:userId', async ({ principal, request, workspace, base }) => {
    const { userId } = request.params
    const name = await ownership.transfer(principal, workspace.slug, { userId })
    return {
      path: `${base}/people/${userId}`,
      notice: notice`${name} is now an owner, and you are an admin.`,
    }
  })

  page(deletePath, async (visit) => renderDeletion(visit))

  action(deletePath, deletePath, async ({ principal, request, workspace }) => {
    const confirmSlug = readField(request, 'confirmSlug').trim()
    await ownership.delete(principal, workspace.slug, { confirmSlug })
    return '/'
  })
}

/** The section of the settings that leads to the export and the deletion, for owners. */
export function renderOwnership({ base }: WorkspaceVisit): Html {
  return html`<section aria-labelledby="ownership">
    <h2 id="ownership">Export and delete</h2>
    <div>
      <p>
        <a class="button quiet" href="${base}/settings/export" download>Export the workspace</a>
      </p>
      <p class="hint">
        Everything in it but deleted seeds, with the names and email addresses of its members: a JSON object
        in each line.
      </p>
      <p><a href="${base}${deletePath}">Delete the workspace</a></p>
    </div>
  </section>`
}

function renderDeletion(visit: WorkspaceVisit): Page {
  const { base, may, request, workspace } = visit
  const action = `${base}${deletePath}`
  const state = stateOf(visit.state, action)
  const title = 'Delete the workspace'
  const body = may('workspaces.delete')
    ? html`<p>
          <strong><bdi>${workspace.name}</bdi></strong> is gone at once, for all its members and agents.
          Nobody can take its address for 90 days.
        </p>
        <p>
          For 14 days, the operators of this service can restore it. After that, its seeds, evidence, comments
          and events are erased. <a href="${base}/settings/export" download>Export the workspace</a> first if
          you may need them.
        </p>
        ${renderForm({
          request,
          action,
          state,
          fields: ['confirmSlug'],
          body: html`${renderField({
              name: 'confirmSlug',
              label: `Enter ${workspace.slug} to confirm`,
              maxLength: slugLengthMax,
              autocomplete: 'off',
              script: html`autocapitalize="none" spellcheck="false"`,
              state,
            })}
            <button class="danger">Delete the workspace</button>
            <a class="button quiet" href="${base}/settings">Cancel</a>`,
        })}`
    : html`<p>Only owners can delete a workspace.</p>`
  return {
    title,
    section: sectionOf(visit, 'General'),
    body: html`<h1>${title}</h1>
      ${body}`,
  }
}
