import type { EventType } from '../../areas/events/events.service.ts'
import { managerEventTypes } from '../../domain/events.ts'
import { renderSelect } from '../components/forms.ts'
import { html, type Content, type Html } from '../components/html.ts'
import { withQuery } from '../components/lists.ts'
import { eventTypeNames } from '../views/events.views.ts'
import { searchLengthMax } from '../views/search-form.views.ts'
import type { WorkspaceVisit } from '../plugins/workspace-visit.ts'
import { renderBalanceFilter, renderDueFilter, renderLeadFilter } from '../seeds/lists/seed-filters.views.ts'
import { renderSortingFilters, type SeedSorting } from '../seeds/lists/seed-sorting.views.ts'
import type { ActivityFilters } from './activity-filters.ts'

/** A person or a seed that matches what was typed. */
export interface Choice {
  id: string
  name: string
  hint?: string
}

/** What the filters of the activity are shown with. */
export interface ShownFilters extends ActivityFilters {
  actorName: string
  seedTitle: string
  agents: readonly { value: string; label: string }[]
  sorting: SeedSorting
  isFiltered: boolean
}

/** The form of the filters. All that is chosen from a list acts at once. */
export function renderFilters(visit: WorkspaceVisit, filters: ShownFilters): Html {
  const { parameters, person, about, actorName, seedTitle, agents, sorting, isFiltered } = filters
  const { type, actor, agent, seed, lead, due, balance, from, to, zone } = parameters
  const path = `${visit.base}/activity`
  const hidden = visit.may('invites.list') ? [] : managerEventTypes
  const types = (Object.entries(eventTypeNames) as [EventType, string][]).filter(
    ([value]) => !hidden.includes(value),
  )
  return html`<details class="filters" ${(isFiltered || person !== '' || about !== '') && html`open`}>
    <summary>Filter</summary>
    <form action="${path}" data-instant>
      ${renderSelect({
        name: 'type',
        label: 'Kind',
        value: type,
        choices: [{ value: '', label: 'Everything' }, ...types.map(([value, label]) => ({ value, label }))],
      })}
      ${
        agents.length > 0 &&
        renderSelect({
          name: 'agent',
          label: 'Agent',
          value: agent,
          choices: [{ value: '', label: 'People and agents' }, ...agents],
        })
      }
      ${
        actor === ''
          ? renderFinder({ name: 'person', label: 'Member', value: person, hint: 'Name or email' })
          : renderChosen({
              name: 'actor',
              label: 'Member',
              value: actor,
              shown: actorName,
              other: 'Show everyone',
              path: withQuery(path, { ...parameters, actor: '' }),
            })
      }
      ${
        seed === ''
          ? renderFinder({ name: 'about', label: 'Seed', value: about, hint: 'Words of the seed' })
          : renderChosen({
              name: 'seed',
              label: 'Seed',
              value: seed,
              shown: seedTitle,
              other: 'Show all seeds',
              path: withQuery(path, { ...parameters, seed: '' }),
            })
      }
      ${renderSortingFilters(sorting, parameters)} ${renderLeadFilter(lead)} ${renderDueFilter(due)}
      ${renderBalanceFilter(balance)} ${renderDay({ name: 'from', label: 'From', value: from, zone })}
      ${renderDay({ name: 'to', label: 'To', value: to, zone })}
      <input type="hidden" name="zone" value="${zone}" data-zone />
      <div class="line">
        <button>Apply filter</button>
        ${isFiltered && html`<a class="button quiet" href="${path}">Clear</a>`}
      </div>
    </form>
  </details>`
}

function renderFinder(field: { name: string; label: string; value: string; hint: string }): Html {
  const { name, label, value, hint } = field
  return html`<div class="field">
    <label for="${name}">${label}</label>
    <input
      id="${name}"
      name="${name}"
      value="${value}"
      maxlength="${searchLengthMax}"
      autocomplete="off"
      aria-describedby="${name}-hint"
    />
    <p class="hint" id="${name}-hint">${hint}</p>
  </div>`
}

function renderChosen(field: {
  name: string
  label: string
  value: string
  shown: string
  other: string
  path: string
}): Html {
  const { name, label, value, shown, other, path } = field
  return html`<div class="field">
    <strong>${label}</strong>
    <p><input type="hidden" name="${name}" value="${value}" /><bdi>${shown}</bdi></p>
    <p><a href="${path}">${other}</a></p>
  </div>`
}

function renderDay(field: { name: string; label: string; value: string; zone: string }): Content {
  const { name, label, value, zone } = field
  return html`<div class="field">
    <label for="${name}">${label}</label>
    <input id="${name}" name="${name}" type="date" value="${value}" aria-describedby="${name}-hint" />
    <p class="hint" id="${name}-hint">Day in <span data-zone-name>${zone || 'UTC'}</span></p>
  </div>`
}

/** Says that several people or seeds match what was typed, with a link to each. */
export function renderChoices(
  { noun, typed, choices }: { noun: string; typed: string; choices: readonly Choice[] },
  linkTo: (id: string) => string,
): Html {
  return html`<div class="notice" role="status">
    <p>Several ${noun} match “<bdi>${typed}</bdi>”. Choose one:</p>
    <ul class="chips">
      ${choices.map(
        ({ id, name, hint }) =>
          html`<li>
            <a href="${linkTo(id)}"><bdi>${name}</bdi></a>
            ${hint !== undefined && html`<span class="hint">${hint}</span>`}
          </li>`,
      )}
    </ul>
  </div>`
}
