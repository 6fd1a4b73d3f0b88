import type { FastifyRequest } from 'fastify'
import type { Services } from '../../../services/services.ts'
import type { SavedFilter } from '../../../areas/savedFilters/savedFilters.service.ts'
import type { Seed } from '../../../areas/seeds/seeds.service.ts'
import { seedLabelsMax } from '../../../domain/labels.ts'
import { renderSelect, type FormState } from '../../components/forms.ts'
import { html, type Content, type Html } from '../../components/html.ts'
import { readField, readLabelIds, labelIdsField, labelsShownField } from '../../components/sent-form.ts'
import type { WorkspaceVisit } from '../../plugins/workspace-visit.ts'

interface Named {
  id: string
  name: string
}

/** The teams and labels that a seed of a workspace can have, by their names. */
export interface SeedSorting {
  teams: readonly Named[]
  labels: readonly Named[]
}

/** What lists of seeds can be filtered by. */
export interface SeedFilterChoices extends SeedSorting {
  savedFilters: readonly SavedFilter[]
}

const sortByName = (items: readonly Named[]) => items.toSorted((a, b) => a.name.localeCompare(b.name))

/** Reads what the seeds of a workspace can be filtered by, of teams the first ones. */
export async function readFilterChoices(
  { savedFilters }: Pick<Services, 'savedFilters'>,
  { principal, workspace }: WorkspaceVisit,
): Promise<SeedFilterChoices> {
  const found = await savedFilters.listChoices(principal, workspace.slug)
  return { ...found, teams: sortByName(found.teams), labels: sortByName(found.labels) }
}

/** Reads the teams and labels of a workspace, of teams the first ones. */
export async function readSorting(
  { labels }: Pick<Services, 'labels'>,
  { principal, workspace }: WorkspaceVisit,
): Promise<SeedSorting> {
  const found = await labels.listChoices(principal, workspace.slug)
  return { teams: sortByName(found.teams), labels: sortByName(found.labels) }
}

/** The labels of a seed, each with a link to the seeds that have it. */
export function renderLabels(base: string, { labels }: Pick<Seed, 'labels'>): Content {
  if (labels.length === 0) return false
  return html`<span class="tags"
    >${labels.map(
      ({ id, name }) => html`<a class="tag" href="${base}/seeds?label=${id}"><bdi>${name}</bdi></a> `,
    )}</span
  >`
}

/** The team of a seed and its labels, on its page. */
export function renderSorting(base: string, seed: Seed): Content {
  const { teamId, teamName, labels } = seed
  if (teamId === null && labels.length === 0) return false
  return html`${
    teamId !== null &&
    html`<p>
      Team <a href="${base}/teams/${teamId}"><bdi>${teamName}</bdi></a>
    </p>`
  }
  ${renderLabels(base, seed)}`
}

/** The fields for the team and the labels, as far as the workspace has any. */
export function renderSortingFields(
  { teams, labels }: SeedSorting,
  {
    base,
    state,
    stored,
    conflicts,
  }: {
    base: string
    state: FormState
    stored: { teamId?: string | null; labelIds?: readonly string[] }
    /** The fields that others changed since the form was opened. */
    conflicts: readonly string[]
  },
): Html {
  const teamId = state.values.teamId ?? stored.teamId ?? ''
  const chosen = readLabelIds({ body: state.values }) ?? stored.labelIds ?? []
  const saved = (field: string, names: readonly string[]) =>
    conflicts.includes(field) &&
    html`<p class="hint">Saved meanwhile: <bdi>${names.join(', ') || '(nothing)'}</bdi></p>`
  const nameOf = (items: readonly Named[], ids: readonly string[]) =>
    items.filter(({ id }) => ids.includes(id)).map(({ name }) => name)
  return html`${
    teams.length > 0 &&
    html`${renderSelect({
      name: 'teamId',
      label: html`Team <span class="hint">(optional)</span>`,
      value: teamId,
      choices: [{ value: '', label: 'None' }, ...withCurrent(teams, teamId)],
    })}
    ${saved('teamId', nameOf(teams, [stored.teamId ?? '']))}`
  }
  ${
    labels.length > 0 &&
    html`<input type="hidden" name="${labelsShownField}" value="1" />
      <details class="reveal" ${chosen.length > 0 && html`open`}>
        <summary>Labels</summary>
        <fieldset class="choices">
          <legend>Labels, at most ${seedLabelsMax} (<a href="${base}/labels">manage</a>)</legend>
          ${labels.map(
            ({ id, name }) =>
              html`<label class="choice"
                ><input
                  type="checkbox"
                  name="${labelIdsField}"
                  value="${id}"
                  ${chosen.includes(id) && html`checked`}
                />
                <bdi>${name}</bdi></label
              >`,
          )}
        </fieldset>
      </details>
      ${saved('labelIds', nameOf(labels, stored.labelIds ?? []))}`
  }`
}

/** What the form of a seed says of its team and labels: nothing of what it does not show. */
export function readSortingFields(form: Pick<FastifyRequest, 'body'>): {
  teamId?: string | null
  labelIds?: string[]
} {
  const labelIds = readLabelIds(form)
  const knowsTeam = Object.hasOwn((form.body as object | undefined) ?? {}, 'teamId')
  return {
    ...(knowsTeam && { teamId: readField(form, 'teamId') || null }),
    ...(labelIds && { labelIds: labelIds.toSorted() }),
  }
}

/** The filters of a list by team and label, as far as the workspace has any, or one is chosen. */
export function renderSortingFilters(
  { teams, labels }: SeedSorting,
  { team = '', label = '' }: { team?: string | undefined; label?: string | undefined },
): Html {
  return html`${
    (teams.length > 0 || team !== '') &&
    renderSelect({
      name: 'team',
      label: 'Team',
      value: team,
      choices: [{ value: '', label: 'All teams' }, ...withCurrent(teams, team)],
    })
  }
  ${
    (labels.length > 0 || label !== '') &&
    renderSelect({
      name: 'label',
      label: 'Label',
      value: label,
      choices: [{ value: '', label: 'All labels' }, ...withCurrent(labels, label)],
    })
  }`
}

/** The choices of a list, with the current one also if it is not among them: otherwise another one would look chosen. */
function withCurrent(items: readonly Named[], current: string): { value: string; label: string }[] {
  const choices = items.map(({ id, name }) => ({ value: id, label: name }))
  if (current === '' || items.some(({ id }) => id === current)) return choices
  return [...choices, { value: current, label: 'Another one' }]
}
