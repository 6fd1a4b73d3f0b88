import type { Seed } from '../../areas/seeds/seeds.service.ts'
import {
  seedTextLengthMax,
  seedTitleLengthMax,
  successCriteriaMax,
  successCriterionLengthMax,
} from '../../kernel/seeds.ts'
import { renderField, renderForm } from '../shared/forms.ts'
import { html } from '../shared/html.ts'
import type { Page } from '../shared/pages.ts'
import { sectionOf, type WorkspaceVisit } from './workspace-visit.ts'

const fields = ['title', 'summary', 'problem', 'audience', 'hypothesis', 'successCriteria']

/** The form of a new seed, or of a seed that is edited. */
export function renderSeedForm(visit: WorkspaceVisit, seed?: Seed): Page {
  const { base, request, state } = visit
  const path = seed ? `${base}/seeds/${seed.id}` : `${base}/seeds`
  const title = seed ? 'Edit seed' : 'New seed'
  const text = { maxLength: seedTextLengthMax, state }
  return {
    title: seed ? `Edit ${seed.title}` : title,
    section: sectionOf(visit, 'Seeds'),
    body: html`<p>
        ${seed ? html`<a href="${path}"><bdi>${seed.title}</bdi></a>` : html`<a href="${path}">All seeds</a>`}
      </p>
      <h1>${title}</h1>
      ${renderForm({
        request,
        action: seed ? `${path}/edit` : `${path}/new`,
        state,
        fields,
        className: 'stack seed-form',
        body: html`${renderField({
            name: 'title',
            label: 'Title',
            value: seed?.title ?? '',
            maxLength: seedTitleLengthMax,
            autocomplete: 'off',
            hint: `A few words that name the idea, up to ${seedTitleLengthMax} characters.`,
            state,
          })}
          ${renderField({
            ...{ name: 'summary', label: 'Summary', rows: 3, value: seed?.summary ?? '', ...text },
            hint: `The idea in two or three sentences, up to ${seedTextLengthMax} characters.`,
          })}
          ${renderField({
            ...{ name: 'problem', label: 'Problem', rows: 3, value: seed?.problem ?? '', ...text },
            isOptional: true,
            hint: 'What is difficult today?',
          })}
          ${renderField({
            ...{ name: 'audience', label: 'Audience', rows: 2, value: seed?.audience ?? '', ...text },
            isOptional: true,
            hint: 'Who has the problem?',
          })}
          ${renderField({
            ...{ name: 'hypothesis', label: 'Hypothesis', rows: 2, value: seed?.hypothesis ?? '', ...text },
            isOptional: true,
            hint: 'What do you believe that you want to test?',
          })}
          ${renderField({
            name: 'successCriteria',
            label: 'Success criteria',
            rows: 3,
            value: seed?.successCriteria.join('\n') ?? '',
            isOptional: true,
            hint:
              'What would show that the hypothesis is true? One on each line: ' +
              `up to ${successCriteriaMax} lines of ${successCriterionLengthMax} characters.`,
            state,
          })}
          <div class="line">
            <button>${seed ? 'Save' : 'Create seed'}</button>
            <a class="button quiet" href="${path}">Cancel</a>
          </div>`,
      })}`,
  }
}
