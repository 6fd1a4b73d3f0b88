import type { Evidence } from '../../areas/seeds/evidence.service.ts'
import type { Seed, SeedDetails } from '../../areas/seeds/seeds.service.ts'
import { parseJson } from '../../kernel/json-text.ts'
import {
  evidenceKinds,
  evidenceSummaryLengthMax,
  sourceUrlLengthMax,
  sourceUrlPattern,
  verdicts,
  type EvidenceAuthors,
  type EvidenceKind,
} from '../../kernel/seeds.ts'
import { renderField, renderForm, renderRadios, renderSelect, type FormState } from '../components/forms.ts'
import { html, type Html } from '../components/html.ts'
import { renderRows, withQuery } from '../components/lists.ts'
import { renderNotices, renderPager, resetNotice, type ListPlace } from '../components/pager.ts'
import { renderTime } from '../components/words.ts'
import type { WorkspaceVisit } from '../plugins/workspace-visit.ts'
import { renderAuthor } from '../views/author.views.ts'
import { renderBalance, verdictNames } from './evidence-balance.ts'

const kindNames: Record<EvidenceKind, string> = {
  interview: 'Interview',
  survey: 'Survey',
  experiment: 'Experiment',
  metric: 'Metric',
  note: 'Note',
}

/** A seed with the evidence that is listed. */
export interface ShownEvidence extends SeedDetails, ListPlace {
  /** Whose evidence is listed, if not all. */
  by: EvidenceAuthors | undefined
}

/** The evidence of a seed, with the form that adds to it. */
export function renderEvidence(
  visit: WorkspaceVisit,
  { seed, by, evidence, evidenceCounts, cursor, trail, isReset }: ShownEvidence,
): Html {
  const { base, may, state } = visit
  const path = `${base}/seeds/${seed.id}`
  const pieces = parseJson(evidence.items)
  // A form that was refused stays, with what was typed, even if its author has left the seed meanwhile.
  const hasForm = may('seeds.addEvidence') && (seed.joined || isAboutEvidence(state))
  return html`<section aria-labelledby="evidence">
    <h2 id="evidence">Evidence</h2>
    ${renderBalance(evidenceCounts)} ${hasForm && renderEvidenceForm(visit, seed)}
    ${evidenceCounts.length > 0 && renderEvidenceFilter(path, by)} ${renderNotices([isReset && resetNotice])}
    ${renderRows(
      pieces.map(renderPiece),
      evidenceCounts.length > 0
        ? html`<p>No evidence ${by !== undefined && `by ${by}`}.</p>`
        : html`<p>
            No evidence yet.
            ${!hasForm && may('seeds.addEvidence') && 'Join the seed to add what you find out.'}
          </p>`,
    )}
    ${renderPager(
      { cursor, trail, nextCursor: evidence.nextCursor },
      { path, fragment: 'evidence', parameters: { by: by ?? '' } },
    )}
  </section>`
}

/** Whether the form that adds evidence was refused, and not another one of the page. */
export function isAboutEvidence(state: FormState): boolean {
  return state.values.verdict !== undefined
}

/** The choice of whose evidence is listed. */
function renderEvidenceFilter(path: string, current: EvidenceAuthors | undefined): Html {
  const choices = [
    { label: 'All', by: undefined },
    { label: 'By people', by: 'people' },
    { label: 'By agents', by: 'agents' },
  ] as const
  return html`<nav class="segments" aria-label="Evidence by">
    ${choices.map(
      ({ label, by }) =>
        html`<a
          href="${withQuery(path, { by: by ?? '' })}#evidence"
          ${by === current && html`aria-current="true"`}
          >${label}</a
        >`,
    )}
  </nav>`
}

function renderPiece(piece: Evidence): Html {
  const { kind, verdict, summary, sourceUrl, authorName, agentName, createdAt } = piece
  return html`<div class="stack piece">
    <p><span class="tag verdict-${verdict}">${verdictNames[verdict]}</span> ${kindNames[kind]}</p>
    <p class="prose"><bdi>${summary}</bdi></p>
    ${
      sourceUrl !== null &&
      html`<p class="source">
        Source: <a href="${sourceUrl}" rel="noopener noreferrer nofollow"><bdi>${sourceUrl}</bdi></a>
      </p>`
    }
    <p class="hint">${renderAuthor(authorName, agentName)}, ${renderTime(createdAt)}</p>
  </div>`
}

function renderEvidenceForm({ base, request, state }: WorkspaceVisit, seed: Seed): Html {
  const isRefused = isAboutEvidence(state)
  return html`<details class="reveal" ${isRefused && html`open`}>
    <summary>Add evidence</summary>
    ${renderForm({
      request,
      action: `${base}/seeds/${seed.id}/evidence`,
      ...(isRefused && { state }),
      fields: ['summary', 'sourceUrl'],
      body: html`${renderRadios({
          name: 'verdict',
          legend: 'What it says about the seed',
          value: state.values.verdict ?? '',
          choices: verdicts.map((value) => ({ value, label: verdictNames[value] })),
        })}
        ${renderSelect({
          name: 'kind',
          label: 'Kind',
          value: state.values.kind ?? '',
          choices: evidenceKinds.map((value) => ({ value, label: kindNames[value] })),
        })}
        ${renderField({
          name: 'summary',
          label: 'What you found out',
          rows: 4,
          maxLength: evidenceSummaryLengthMax,
          hint: `Up to ${evidenceSummaryLengthMax} characters. Evidence cannot be changed or deleted.`,
          state,
        })}
        ${renderField({
          name: 'sourceUrl',
          label: 'Source',
          type: 'url',
          maxLength: sourceUrlLengthMax,
          pattern: sourceUrlPattern,
          isOptional: true,
          autocomplete: 'off',
          hint: 'A URL that begins with http:// or https://.',
          state,
        })} <button>Add evidence</button>`,
    })}
  </details>`
}
