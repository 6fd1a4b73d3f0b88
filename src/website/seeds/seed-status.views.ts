import type { Seed } from '../../areas/seeds/seeds.service.ts'
import {
  isClosed,
  reasonLengthMax,
  seedStatuses,
  silentDays,
  type DatedDue,
  type SeedStatus,
} from '../../domain/seeds.ts'
import { renderOpened } from '../components/edits.ts'
import { renderField, renderForm, stateOf } from '../components/forms.ts'
import { html, type Content, type Html } from '../components/html.ts'
import { renderCalendarDate, renderTime } from '../components/words.ts'
import type { WorkspaceVisit } from '../plugins/workspace-visit.ts'
import { whatIsStatus } from './seed-words.ts'

export const statusNames: Record<SeedStatus, string> = {
  open: 'Open',
  validating: 'Validating',
  validated: 'Validated',
  dropped: 'Dropped',
}

export function renderStatus(status: SeedStatus): Html {
  return html`<span class="tag status-${status}">${statusNames[status]}</span>`
}

/** When a seed is due, if it is. */
export function renderDue(decideBy: string | null, due: DatedDue | undefined): Content {
  if (decideBy === null || due === undefined) return false
  const date = renderCalendarDate(decideBy)
  return due === 'overdue'
    ? html`<span class="tag warn">Overdue since ${date}</span>`
    : html`<span class="tag">Due ${date}</span>`
}

/** That a seed has had no new evidence for long. */
export function renderSilent(): Html {
  return html`<span class="tag warn">No evidence for ${silentDays} days</span>`
}

/** What is to be decided about a seed, and by when. */
export function renderDecision({ question, decideBy, status }: Seed, due: DatedDue | undefined): Content {
  const isOpen = decideBy !== null && !isClosed(status)
  return html`${question !== null && html`<p class="lead"><bdi>${question}</bdi></p>`}
  ${
    isOpen &&
    html`<p>
      ${due === undefined ? html`To be decided by ${renderCalendarDate(decideBy)}` : renderDue(decideBy, due)}
    </p>`
  }`
}

/** Who decided a seed, when, and why it has its status, as far as that is known. */
export function renderStatusReason({ status, statusReason, decidedAt, decidedByName }: Seed): Content {
  const reason = statusReason !== null && html`“<bdi>${statusReason}</bdi>”`
  if (decidedAt === null) return reason && html`<p>${reason}</p>`
  return html`<p>
    ${statusNames[status]} ${decidedByName !== null && html`by <bdi>${decidedByName}</bdi>`}
    ${renderTime(decidedAt)} ${reason}
  </p>`
}

/** What the button of a status says. */
const statusActions: Record<SeedStatus, string> = {
  open: 'Reopen',
  validating: 'Start validating',
  validated: 'Mark as validated',
  dropped: 'Drop',
}

/** The form that changes the status of a seed, with a reason. It is refused if the status was changed since. */
export function renderStatusForm({ base, request, state }: WorkspaceVisit, seed: Seed): Html {
  const action = `${base}/seeds/${seed.id}/status`
  const own = stateOf(state, action)
  return html`<section aria-labelledby="status">
    <h2 id="status">Status</h2>
    <p>${renderStatus(seed.status)}</p>
    <p class="hint">${whatIsStatus[seed.status]}</p>
    <details class="reveal" ${own.error !== undefined && html`open`}>
      <summary>Change the status</summary>
      ${renderForm({
        request,
        action,
        body: html`${renderOpened({ status: seed.status })}
          ${renderField({
            name: 'statusReason',
            label: 'Reason',
            maxLength: reasonLengthMax,
            isOptional: true,
            autocomplete: 'off',
            state: own,
          })}
          <div class="choices">
            ${seedStatuses
              .filter((status) => status !== seed.status)
              .map(
                (status) =>
                  html`<button class="small quiet" name="status" value="${status}">
                    ${statusActions[status]}
                  </button>`,
              )}
          </div>
          ${
            seed.status !== 'validated' &&
            seed.evidenceCounts.supports === 0 &&
            html`<p class="hint">No evidence supports this seed yet.</p>`
          }`,
      })}
    </details>
  </section>`
}
