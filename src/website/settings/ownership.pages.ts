import { Readable } from 'node:stream'
import type { Services } from '../../services/services.ts'
import { slugLengthMax } from '../../domain/slugs.ts'
import { allowedActions, type AllowedAction } from '../../domain/workspaces.ts'
import { renderAction, renderField, renderForm, stateOf } from '../components/forms.ts'
import { html, type Html } from '../components/html.ts'
import { notice } from '../components/notice.ts'
import { readField, requireChoice } from '../components/sent-form.ts'
import { renderTime } from '../components/words.ts'
import type { Page } from '../plugins/pages.ts'
import { confirmPathTo } from '../plugins/web-session.ts'
import { sectionOf, type WorkspacePages, type WorkspaceVisit } from '../plugins/workspace-visit.ts'

const deletePath = '/settings/delete'

const allowedWords: Record<AllowedAction, string> = {
  'workspaces.transferOwnership': 'transfer the ownership',
  'workspaces.delete': 'delete the workspace',
}

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

  action('/settings/allow', '/settings', async ({ base, principal, request, workspace }) => {
    const path = `${base}/settings`
    const chosen = requireChoice(request, 'action', allowedActions)
    if (!request.visit.isProven) return confirmPathTo(path)
    await ownership.allow(principal, workspace.slug, chosen)
    return { path, notice: notice`Your API keys may ${allowedWords[chosen]} once in the next ten minutes.` }
  })

  page(deletePath, async (visit) => renderDeletion(visit))

  action(deletePath, deletePath, async ({ principal, request, workspace }) => {
    const confirmSlug = readField(request, 'confirmSlug').trim()
    await ownership.delete(principal, workspace.slug, { confirmSlug })
    return '/'
  })
}

/** The sections of the settings for owners: they lead to the export and the deletion, and allow their API keys more. */
export function renderOwnership(
  { base, request }: WorkspaceVisit,
  allowances: ReadonlyMap<AllowedAction, Date>,
): Html {
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
    </section>
    <section aria-labelledby="by-api">
      <h2 id="by-api">By API</h2>
      <div>
        <p class="hint">
          Your API keys transfer or delete the workspace only after you have allowed it here, once and within
          ten minutes.
        </p>
        ${allowedActions.map((each) => {
          const until = allowances.get(each)
          return html`${until && html`<p>Allowed until ${renderTime(until.toISOString())}: ${allowedWords[each]}.</p>`}
          ${renderAction(request, {
            action: `${base}/settings/allow`,
            label: `Allow API keys to ${allowedWords[each]}`,
            fields: { action: each },
          })}`
        })}
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
