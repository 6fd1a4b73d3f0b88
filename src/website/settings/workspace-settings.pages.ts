import type { FastifyRequest } from 'fastify'
import type { WorkspaceChange } from '../../areas/workspaces/workspaces.service.ts'
import type { Services } from '../../services/services.ts'
import { domainsLengthMax, parseDomains } from '../../kernel/domains.ts'
import type { AllowedAction } from '../../domain/workspaces.ts'
import { slugLengthMax, slugLengthMin, slugPattern } from '../../domain/slugs.ts'
import { nameLengthMax } from '../../kernel/text.ts'
import { mergeEdit, readOpened, renderOpened } from '../components/edits.ts'
import { renderAction, renderField, renderForm, stateOf, type FormState } from '../components/forms.ts'
import { readField } from '../components/sent-form.ts'
import { html, type Html } from '../components/html.ts'
import { renderIcon } from '../components/layout.ts'
import { readQuery, renderConfirmed } from '../components/lists.ts'
import { notice, renderDone } from '../components/notice.ts'
import type { Page } from '../plugins/pages.ts'
import { renderRole } from '../views/roles.views.ts'
import { pictureSizeMax } from '../components/words.ts'
import { renderOwnership } from './ownership.pages.ts'
import {
  sectionOf,
  type UploadPages,
  type WorkspacePages,
  type WorkspaceVisit,
} from '../plugins/workspace-visit.ts'

/** The settings of a workspace. */
export function workspaceSettingsPages(
  { page, action, data }: WorkspacePages,
  { ownership, workspaces }: Pick<Services, 'ownership' | 'workspaces'>,
  webUrl: string,
): void {
  page('/settings', async (visit) => {
    const { principal, workspace } = visit
    const [owners, allowances] =
      workspace.role === 'owner'
        ? await Promise.all([
            workspaces.listOwnerNames(principal, workspace.slug),
            ownership.listAllowances(principal, workspace.slug),
          ])
        : [[], undefined]
    return renderSettings(visit, { webUrl, isOnlyOwner: owners.length === 1, allowances })
  })

  action('/settings', '/settings', async ({ principal, request, workspace }) => {
    const { slug } = await workspaces.update(
      principal,
      workspace.slug,
      readSettings(request),
      readOpened(request),
    )
    return { path: `/w/${slug}/settings`, notice: notice`Saved.` }
  })

  action('/settings/icon/remove', '/settings', async ({ base, principal, workspace }) => {
    await workspaces.removeIcon(principal, workspace.slug)
    return { path: `${base}/settings`, notice: notice`The icon was removed.` }
  })

  data('/settings/slug', async ({ principal, request, workspace }) => {
    const slug = readQuery(request, 'slug')
    return { slug, available: await workspaces.isSlugAvailableTo(principal, workspace.slug, slug) }
  })
}

/** The upload form of the icon. */
export function workspaceIconForm(
  { upload }: UploadPages,
  { workspaces }: Pick<Services, 'workspaces'>,
): void {
  upload('/settings/icon', '/settings', async ({ base, principal, request, workspace }) => {
    await workspaces.uploadIcon(principal, workspace.slug, request.takeFile())
    return { path: `${base}/settings`, notice: notice`Saved.` }
  })
}

function renderSettings(
  visit: WorkspaceVisit,
  {
    webUrl,
    isOnlyOwner,
    allowances,
  }: {
    webUrl: string
    isOnlyOwner: boolean
    /** What API keys may do with the workspace; undefined for who does not own it. */
    allowances: ReadonlyMap<AllowedAction, Date> | undefined
  },
): Page {
  return {
    title: 'Settings',
    section: sectionOf(visit, visit.may('webhooks.list') ? 'General' : 'Settings'),
    body: html`<h1>Settings</h1>
      ${renderDone(visit.request)}
      <div class="settings">
        ${
          visit.may('workspaces.update')
            ? html`${renderGeneral(visit, webUrl)} ${renderIconForm(visit)}`
            : renderSummary(visit)
        }
        ${allowances && renderOwnership(visit, allowances)} ${renderLeaving(visit, isOnlyOwner)}
      </div>`,
  }
}

function renderGeneral(visit: WorkspaceVisit, webUrl: string): Html {
  const { base, request, workspace } = visit
  const action = `${base}/settings`
  const { name, slug, allowedDomains } = workspace
  const stored = { name, slug, allowedDomains }
  const { state, conflicts } = mergeEdit(stateOf(visit.state, action), stored, (form) => {
    const typed = readSettings(form)
    return { ...typed, allowedDomains: parseDomains(typed.allowedDomains).map(String) }
  })
  const saved = (field: keyof typeof stored) =>
    conflicts.includes(field) && { savedMeanwhile: [stored[field]].flat().join(', ') }
  return html`<section aria-labelledby="general">
    <h2 id="general">General</h2>
    ${renderForm({
      request,
      action,
      state,
      fields: ['name', 'slug', 'allowedDomains'],
      body: html`${renderOpened(stored)}
        ${renderField({
          name: 'name',
          label: 'Name',
          value: name,
          maxLength: nameLengthMax,
          autocomplete: 'off',
          state,
          ...saved('name'),
        })}
        ${renderSlugField({
          value: slug,
          ...saved('slug'),
          webUrl,
          checkPath: `${action}/slug`,
          state,
          note: ' The last five addresses redirect here for 90 days.',
        })}
        ${renderField({
          name: 'allowedDomains',
          label: 'Allowed email domains',
          value: allowedDomains.join(', '),
          maxLength: domainsLengthMax,
          autocomplete: 'off',
          isOptional: true,
          hint: 'People with a verified email address at these domains can join as members. You can add the domain of your own address. Separate domains with commas.',
          state,
          ...saved('allowedDomains'),
        })} <button>Save</button>`,
    })}
  </section>`
}

function readSettings(form: Pick<FastifyRequest, 'body'>): Required<WorkspaceChange> {
  return {
    name: readField(form, 'name'),
    slug: readField(form, 'slug').trim(),
    allowedDomains: readField(form, 'allowedDomains'),
  }
}

function renderIconForm({ base, request, workspace }: WorkspaceVisit): Html {
  return html`<section aria-labelledby="icon">
    <h2 id="icon">Icon</h2>
    <div>
      ${renderIcon({ ...workspace, id: workspace.workspaceId }, 64)}
      ${renderPictureForm({ request, action: `${base}/settings/icon`, label: 'New icon' })}
      ${
        workspace.iconUrl !== null &&
        renderAction(request, {
          action: `${base}/settings/icon/remove`,
          label: 'Remove',
          description: 'the icon',
        })
      }
    </div>
  </section>`
}

/** The workspace for members who may not change its settings. */
function renderSummary({ workspace }: WorkspaceVisit): Html {
  return html`<section aria-labelledby="general">
    <h2 id="general">General</h2>
    <div>
      <p class="row">
        ${renderIcon({ ...workspace, id: workspace.workspaceId }, 40)} <bdi>${workspace.name}</bdi>
      </p>
      <p>Your role: ${renderRole(workspace.role)}</p>
      <p class="hint">Owners and admins can change the name, the address and the icon of this workspace.</p>
    </div>
  </section>`
}

function renderLeaving({ base, principal, request, workspace }: WorkspaceVisit, isOnlyOwner: boolean): Html {
  return html`<section aria-labelledby="leave">
    <h2 id="leave">Leave the workspace</h2>
    <div>
      ${
        isOnlyOwner
          ? html`<p>
              You are the only owner. To leave, make <a href="${base}/people">another member</a> an owner
              first.
            </p>`
          : html`<p>You and your agents lose access. Your seeds and evidence stay.</p>
              ${renderConfirmed({
                label: 'Leave',
                description: html`<bdi>${workspace.name}</bdi>`,
                question: 'You need a new invite to come back.',
                action: renderAction(request, {
                  action: `${base}/members/${principal.user.id}/remove`,
                  label: 'Leave workspace',
                  isDangerous: true,
                }),
              })}`
      }
    </div>
  </section>`
}

/** An upload form for a picture. */
export function renderPictureForm(options: { request: FastifyRequest; action: string; label: string }): Html {
  const { request, action, label } = options
  const state = stateOf(request.flash.state, action)
  return renderForm({
    request,
    action,
    state,
    fields: ['file'],
    isUpload: true,
    body: html`${renderField({
        name: 'file',
        label,
        type: 'file',
        accept: 'image/png,image/jpeg,image/webp,image/gif',
        hint: `PNG, JPEG, WebP or GIF, up to ${pictureSizeMax}. It is cropped to a square.`,
        state,
      })}<button class="quiet">Upload</button>`,
  })
}

/** The field for a slug. public/site.js shows whether it is available. */
export function renderSlugField(options: {
  webUrl: string
  /** The path that returns whether a slug is available. */
  checkPath: string
  /** The id of the field that the script derives the slug from. */
  fromId?: string
  value?: string
  savedMeanwhile?: string
  note?: string
  state: FormState
}): Html {
  const { webUrl, checkPath, fromId, value, savedMeanwhile, note = '', state } = options
  return renderField({
    name: 'slug',
    label: 'Workspace address',
    ...(value !== undefined && { value }),
    savedMeanwhile,
    minLength: slugLengthMin,
    maxLength: slugLengthMax,
    pattern: slugPattern,
    autocomplete: 'off',
    hint: `The part after ${webUrl.replace(/^https?:\/\//, '')}/w/. ${slugLengthMin} to ${slugLengthMax} characters: a to z, 0 to 9 and hyphens.${note}`,
    script: html`data-slug-check="${checkPath}" ${fromId !== undefined && html`data-slug-from="${fromId}"`}
    autocapitalize="none" spellcheck="false"`,
    state,
  })
}
