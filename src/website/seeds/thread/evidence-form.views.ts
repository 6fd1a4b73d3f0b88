import type { Evidence } from '../../../areas/evidence/evidence.service.ts'
import type { Criterion } from '../../../domain/criteria.ts'
import {
  evidenceKinds,
  evidenceSummaryLengthMax,
  sourceUrlLengthMax,
  verdicts,
  type EvidenceKind,
} from '../../../domain/seeds.ts'
import {
  renderField,
  renderForm,
  renderRadios,
  renderSelect,
  type FormState,
} from '../../components/forms.ts'
import { html, type Html } from '../../components/html.ts'
import type { Page } from '../../plugins/pages.ts'
import { sectionOf, type WorkspaceVisit } from '../../plugins/workspace-visit.ts'
import { renderAttachmentsField } from './attachments.views.ts'
import { renderCriterionChoice } from '../seed-criteria.views.ts'
import { verdictNames } from './evidence-balance.ts'

export const kindNames: Record<EvidenceKind, string> = {
  interview: 'Interview',
  survey: 'Survey',
  experiment: 'Experiment',
  metric: 'Metric',
  note: 'Note',
}

const kindIcons: Record<EvidenceKind, string> = {
  interview: 'M2 3.5h12v7H7.5L4.5 13v-2.5H2Z',
  survey: 'M3 2.5h10v11H3ZM5.5 6l1 1 1.5-2M9.5 6h1.5M5.5 10l1 1 1.5-2M9.5 10H11',
  experiment: 'M6 2h4M6.5 2v4.5L3 13.5h10L9.5 6.5V2M5 10h6',
  metric: 'M2.5 13.5h11M4.5 11V8M8 11V5M11.5 11V2.5',
  note: 'M3.5 2.5h6l3 3v8h-9ZM9.5 2.5v3h3M6 8.5h4M6 11h4',
}

/** A kind of evidence, with its icon. */
export function renderKind(kind: EvidenceKind): Html {
  return html`<span class="kind"
    ><svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true"><path d="${kindIcons[kind]}" /></svg
    >${kindNames[kind]}</span
  >`
}

/** The fields that show their own errors. */
export const evidenceFormFields = ['summary', 'sourceUrl']

/** The fields of a piece of evidence of a seed with some success criteria, empty or with what is stored. */
export function renderEvidenceFields(
  visit: WorkspaceVisit,
  state: FormState,
  criteria: readonly Criterion[],
  stored?: Evidence,
): Html {
  return html`${renderRadios({
    name: 'verdict',
    legend: 'What it says about the seed',
    value: state.values.verdict ?? stored?.verdict ?? '',
    choices: verdicts.map((value) => ({ value, label: verdictNames[value] })),
  })}
  ${renderSelect({
    name: 'kind',
    label: 'Kind',
    value: state.values.kind ?? stored?.kind ?? '',
    choices: evidenceKinds.map((value) => ({ value, label: kindNames[value] })),
  })}
  ${renderField({
    name: 'summary',
    label: 'What you found out',
    value: stored?.summary ?? '',
    rows: 4,
    maxLength: evidenceSummaryLengthMax,
    hint: `Up to ${evidenceSummaryLengthMax} characters. You can correct it for 15 minutes, and withdraw it later.`,
    state,
  })}
  ${renderField({
    name: 'sourceUrl',
    label: 'Source',
    type: 'url',
    value: stored?.sourceUrl ?? '',
    maxLength: sourceUrlLengthMax,
    isOptional: true,
    autocomplete: 'off',
    hint: 'A URL that begins with http:// or https://.',
    state,
  })}
  ${renderCriterionChoice(criteria, state, stored?.criterionIds ?? [])}
  ${renderAttachmentsField(visit, { state, ...(stored && { stored: stored.attachments }) })}`
}

/** The page on which the author corrects a piece of evidence. */
export function renderCorrection(
  visit: WorkspaceVisit,
  piece: Evidence,
  criteria: readonly Criterion[],
): Page {
  const { base, request, state } = visit
  const seedPath = `${base}/seeds/${piece.seedId}`
  return {
    title: 'Correct evidence',
    section: sectionOf(visit, 'Seeds'),
    body: html`<p><a href="${seedPath}#evidence-${piece.id}">Back to the seed</a></p>
      <h1>Correct evidence</h1>
      ${renderForm({
        request,
        action: `${seedPath}/evidence/${piece.id}/edit`,
        state,
        fields: evidenceFormFields,
        body: html`${renderEvidenceFields(visit, state, criteria, piece)}
          <div class="line">
            <button>Save</button>
            <a class="button quiet" href="${seedPath}#evidence-${piece.id}">Cancel</a>
          </div>`,
      })}`,
  }
}
