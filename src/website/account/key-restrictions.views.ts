import type { FastifyRequest } from 'fastify'
import type { RestrictedApiKey, RestrictionsInput } from '../../areas/apiKeys/apiKeys.service.ts'
import type { Membership } from '../../areas/workspaces/workspaces.service.ts'
import { errors } from '../../kernel/errors.ts'
import { keyAccesses, keyWorkspacesMax, type KeyAccess } from '../../domain/key-restrictions.ts'
import { roles } from '../../domain/roles.ts'
import { roleNames } from '../views/roles.views.ts'
import { renderCheckbox, renderSelect, type FormState } from '../components/forms.ts'
import { html, type Content, type Html } from '../components/html.ts'
import { readField, requireChoice } from '../components/sent-form.ts'
import { formatDay, renderDate } from '../components/words.ts'

const accessNames: Record<KeyAccess, string> = {
  full: 'Everything that you may do',
  read: 'Only read',
}

const lifetimes = [
  { value: '7', label: 'In 7 days' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In a year' },
]

/** The expiry that a key has, and the workspaces that it is bound to, as values of fields. */
const unchanged = 'unchanged'
const chosen = 'chosen'

const checkboxOf = (workspaceId: string) => `workspace-${workspaceId}`

/** What a key may not do, in words; nothing for a key without restrictions. */
export function renderRestrictions(key: RestrictedApiKey, workspaces: readonly Membership[]): Content {
  const { expiresAt, access, workspaceIds, maxRole, isRotated } = key
  const parts: Content[] = [
    isRotated && html`rotated`,
    access === 'read' && html`only reads`,
    maxRole !== null && html`acts as ${roleNames[maxRole].toLowerCase()} at most`,
    workspaceIds !== null && html`only in ${renderNames(workspaceIds, workspaces)}`,
    expiresAt !== null && html`expires on ${renderDate(expiresAt)}`,
  ]
  return parts.filter(Boolean).map((part) => html` · ${part}`)
}

/** The names of workspaces; those that the person has left have none. */
function renderNames(workspaceIds: readonly string[], workspaces: readonly Membership[]): Content {
  const joined = workspaces.filter(({ id }) => workspaceIds.includes(id))
  if (joined.length === 0) return 'workspaces that you are not in'
  return joined.map(({ name }, i) => html`${i > 0 && ', '}<bdi>${name}</bdi>`)
}

/** The fields for the restrictions of a key, or of a new one. */
export function renderRestrictionFields(
  state: FormState,
  workspaces: readonly Membership[],
  key?: RestrictedApiKey,
): Html {
  const { values } = state
  const isSent = Object.keys(values).length > 0
  const end = key?.expiresAt ?? null
  const bound = key?.workspaceIds ?? null
  return html`${renderSelect({
    name: 'access',
    label: 'What it may do',
    value: values.access ?? key?.access ?? 'full',
    choices: keyAccesses.map((value) => ({ value, label: accessNames[value] })),
  })}
  ${renderSelect({
    name: 'maxRole',
    label: 'Its highest role',
    value: values.maxRole ?? key?.maxRole ?? '',
    choices: [
      { value: '', label: 'Yours in each workspace' },
      ...roles.map((value) => ({ value, label: roleNames[value] })),
    ],
  })}
  ${renderSelect({
    name: 'expires',
    label: 'When it expires',
    value: values.expires ?? (end === null ? '' : unchanged),
    choices: [
      ...(end === null ? [] : [{ value: unchanged, label: `${formatDay(end)}, as now` }]),
      { value: '', label: 'Never' },
      ...lifetimes,
    ],
  })}
  ${
    (workspaces.length > 0 || bound !== null) &&
    html`${renderSelect({
        name: 'reach',
        label: 'Where it may be used',
        value: values.reach ?? (bound === null ? '' : chosen),
        choices: [
          { value: '', label: 'In all of your workspaces' },
          { value: chosen, label: 'Only in some workspaces' },
        ],
      })}
      <fieldset class="if-chosen">
        <legend>Workspaces</legend>
        ${workspaces.map(({ id, name }) =>
          renderCheckbox({
            name: checkboxOf(id),
            label: html`<bdi>${name}</bdi>`,
            isChecked: isSent ? checkboxOf(id) in values : (bound?.includes(id) ?? false),
          }),
        )}
      </fieldset>`
  }`
}

/**
 * The restrictions that a form asks for. Throws `workspaces_unchosen`, and `form_expired` for what our pages do not offer.
 */
export function readRestrictions(
  request: Pick<FastifyRequest, 'body'>,
  workspaces: readonly Membership[],
  key?: RestrictedApiKey,
): RestrictionsInput {
  return {
    access: readField(request, 'access') === 'read' ? 'read' : 'full',
    maxRole: requireChoice(request, 'maxRole', ['', ...roles]) || null,
    expiresAt: readExpiry(readField(request, 'expires'), key),
    workspaceIds: readField(request, 'reach') === chosen ? readChosen(request, workspaces, key) : null,
  }
}

function readExpiry(field: string, key: RestrictedApiKey | undefined): RestrictionsInput['expiresAt'] {
  if (field === '') return null
  if (field === unchanged && key) return key.expiresAt
  if (!lifetimes.some(({ value }) => value === field)) throw errors.formExpired()
  return { days: Number(field) }
}

function readChosen(
  request: Pick<FastifyRequest, 'body'>,
  workspaces: readonly Membership[],
  key: RestrictedApiKey | undefined,
): string[] {
  const checked = workspaces.map(({ id }) => id).filter((id) => readField(request, checkboxOf(id)) !== '')
  // The page has no checkboxes for the workspaces that the person has left. The key stays bound to them.
  const left = key?.workspaceIds?.filter((id) => workspaces.every((workspace) => workspace.id !== id)) ?? []
  const ids = [...checked, ...left]
  if (ids.length === 0 || ids.length > keyWorkspacesMax)
    throw errors.workspacesUnchosen({ field: 'workspaceIds' })
  return ids
}
