import type { FastifyRequest } from 'fastify'
import type { CriterionEvidence, Seed } from '../../areas/seeds/seeds.service.ts'
import { criterionStates, type Criterion, type CriterionState } from '../../domain/criteria.ts'
import { verdicts, type Verdict } from '../../domain/seeds.ts'
import { errors } from '../../kernel/errors.ts'
import { shorten } from '../../kernel/text.ts'
import { renderCheckbox, renderForm, type FormState } from '../components/forms.ts'
import { html, type Content, type Html } from '../components/html.ts'
import { excerptOf } from '../components/markdown.ts'
import { readField } from '../components/sent-form.ts'
import { countOf } from '../components/words.ts'
import type { WorkspaceVisit } from '../plugins/workspace-visit.ts'
import { renderSmallBalance } from './thread/evidence-balance.ts'
import { pathOfSubject } from './thread/comments.views.ts'

const linkLengthMax = 80

/** What each state is called, and what the button says that sets it. */
export const stateNames: Record<CriterionState, string> = { open: 'Open', met: 'Met', missed: 'Missed' }
const stateActions: Record<CriterionState, string> = {
  open: 'Not known yet',
  met: 'It is met',
  missed: 'It was missed',
}

const verdictLabels: Record<Verdict, string> = { supports: 'For', contradicts: 'Against', neutral: 'Neutral' }

/** The success criteria of a seed, each with its state, its evidence, and the buttons that set the state. */
export function renderCriteria(
  { base, may, request }: WorkspaceVisit,
  seed: Seed,
  found: readonly CriterionEvidence[],
): Content {
  if (seed.criteria.length === 0) return false
  const list = html`<ul class="criteria">
    ${seed.criteria.map((criterion) => {
      const own = found.filter(({ criterionId }) => criterionId === criterion.id)
      return html`<li>
        <p>
          <bdi>${criterion.text}</bdi>
          <span class="tag criterion-${criterion.state}">${stateNames[criterion.state]}</span>
        </p>
        ${own.length > 0 && renderEvidence(base, seed, own)} ${may('seeds.update') && renderStates(criterion)}
      </li>`
    })}
  </ul>`
  return html`<section>
    <h2>Success criteria</h2>
    ${
      may('seeds.update')
        ? renderForm({
            request,
            action: `${base}/seeds/${seed.id}/criteria`,
            className: 'whole',
            body: list,
          })
        : list
    }
  </section>`
}

/** The balance of a criterion, and links to its newest evidence of each verdict. */
function renderEvidence(base: string, seed: Seed, found: readonly CriterionEvidence[]): Html {
  const counts = { supports: 0, contradicts: 0, neutral: 0 }
  for (const { verdict, count } of found) counts[verdict] = count
  return html`<p class="hint">${renderSmallBalance(counts)}</p>
    ${verdicts.map((verdict) => {
      const [ofVerdict] = found.filter((each) => each.verdict === verdict)
      if (!ofVerdict) return false
      const { newest, count } = ofVerdict
      const left = count - newest.length
      return html`<div class="for">
        <p class="hint">${verdictLabels[verdict]}</p>
        <ul class="bullets">
          ${newest.map(
            ({ id, summary }) =>
              html`<li>
                <a href="${pathOfSubject(base, { seedId: seed.id, evidenceId: id })}"
                  ><bdi>${shorten(excerptOf(summary), linkLengthMax)}</bdi></a
                >
              </li>`,
          )}
          ${left > 0 && html`<li class="hint">${countOf(left, 'more piece')}</li>`}
        </ul>
      </div>`
    })}`
}

/** The buttons that set the state, in the form of all criteria. What it was tells whether somebody else has set it meanwhile. */
function renderStates({ id, text, state }: Criterion): Html {
  return html`<details class="reveal" name="criterion">
    <summary>
      Set the state<span class="visually-hidden"> of <bdi>${text}</bdi></span>
    </summary>
    <div class="choices">
      ${criterionStates
        .filter((other) => other !== state)
        .map(
          (other) =>
            html`<button class="small quiet" name="criterion" value="${id} ${state} ${other}">
              ${stateActions[other]}
            </button>`,
        )}
    </div>
  </details>`
}

/** What a button of `renderCriteria` sets. Throws `form_expired` for what no page offers. */
export function readStateChange(request: Pick<FastifyRequest, 'body'>): {
  criterionId: string
  from: CriterionState
  to: CriterionState
} {
  const [criterionId = '', ...words] = readField(request, 'criterion').split(' ')
  const [from, to] = words.map((word) => criterionStates.find((state) => state === word))
  if (from === undefined || to === undefined) throw errors.formExpired()
  return { criterionId, from, to }
}

/** The name of the checkbox of a criterion in the form of evidence. */
const fieldOf = (id: string) => `criterion-${id}`

/** The checkboxes of the success criteria that evidence speaks to; `chosen` when the form was not sent yet. */
export function renderCriterionChoice(
  criteria: readonly Criterion[],
  state: FormState,
  chosen: readonly string[],
): Content {
  if (criteria.length === 0) return false
  const isSent = state.values.verdict !== undefined
  return html`<fieldset>
    <legend>Success criteria that it speaks to <span class="hint">optional</span></legend>
    ${criteria.map(({ id, text }) =>
      renderCheckbox({
        name: fieldOf(id),
        label: html`<bdi>${text}</bdi>`,
        isChecked: isSent ? state.values[fieldOf(id)] === 'on' : chosen.includes(id),
      }),
    )}
  </fieldset>`
}

/** The chosen success criteria of the form of evidence. */
export function readCriterionChoice({ body }: Pick<FastifyRequest, 'body'>): string[] {
  const prefix = fieldOf('')
  return Object.keys((body as object | undefined) ?? {})
    .filter((name) => name.startsWith(prefix))
    .map((name) => name.slice(prefix.length))
}
