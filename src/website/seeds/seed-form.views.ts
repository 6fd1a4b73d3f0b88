import type { FastifyRequest } from 'fastify'
import type { NewSeed, Seed } from '../../areas/seeds/seeds.service.ts'
import {
  questionLengthMax,
  seedTextLengthMax,
  seedTitleLengthMax,
  successCriteriaMax,
  successCriterionLengthMax,
} from '../../domain/seeds.ts'
import { mergeEdit, renderOpened } from '../components/edits.ts'
import { renderField, renderForm, type FieldOptions } from '../components/forms.ts'
import { readAttachmentIds, readField, readText } from '../components/sent-form.ts'
import { html } from '../components/html.ts'
import type { Page } from '../plugins/pages.ts'
import { sectionOf, type WorkspaceVisit } from '../plugins/workspace-visit.ts'
import { renderAttachmentsField } from './thread/attachments.views.ts'
import { readSortingFields, renderSortingFields, type SeedSorting } from './lists/seed-sorting.views.ts'
import { whatIsSeed } from './seed-words.ts'
import { renderSimilarPlace } from './similar-seeds.views.ts'

const fields = [
  'title',
  'summary',
  'problem',
  'audience',
  'hypothesis',
  'successCriteria',
  'question',
  'decideBy',
] as const

/** The form of a new seed, or of a seed that is edited. */
export function renderSeedForm(visit: WorkspaceVisit, sorting: SeedSorting, seed?: Seed): Page {
  const { base, request } = visit
  const path = seed ? `${base}/seeds/${seed.id}` : `${base}/seeds`
  const title = seed ? 'Edit seed' : 'New seed'
  const stored = seed && textsOf(seed)
  const { state, conflicts } = stored
    ? mergeEdit(visit.state, stored, (form) => toTexts(readSeedForm(form)))
    : { state: visit.state, conflicts: [] }
  const field = (options: FieldOptions & { name: (typeof fields)[number] }) => {
    const { name } = options
    const value = stored && showText(stored[name])
    return renderField({
      state,
      value: value ?? '',
      ...(conflicts.includes(name) && { savedMeanwhile: value }),
      ...options,
    })
  }
  const maxLength = seedTextLengthMax
  return {
    title: seed ? `Edit ${seed.title}` : title,
    section: sectionOf(visit, 'Seeds'),
    hasSimilar: !seed,
    body: html`<p>
        ${seed ? html`<a href="${path}"><bdi>${seed.title}</bdi></a>` : html`<a href="${path}">All seeds</a>`}
      </p>
      <h1>${title}</h1>
      ${!seed && html`<p class="lead">${whatIsSeed}</p>`}
      ${renderForm({
        request,
        action: seed ? `${path}/edit` : `${path}/new`,
        state,
        fields,
        className: 'stack seed-form',
        body: html`${stored && renderOpened(stored)}
          ${field({
            name: 'title',
            label: 'Title',
            isFirst: seed === undefined,
            maxLength: seedTitleLengthMax,
            hint: `A few words that name the idea, up to ${seedTitleLengthMax} characters.`,
          })}
          ${!seed && renderSimilarPlace(base)}
          ${field({
            name: 'summary',
            label: 'Summary',
            rows: 3,
            maxLength,
            hint: `The idea in two or three sentences, up to ${seedTextLengthMax} characters.`,
          })}
          ${field({
            name: 'problem',
            label: 'Problem',
            rows: 3,
            maxLength,
            isOptional: true,
            hint: 'What is difficult today?',
          })}
          ${field({
            name: 'audience',
            label: 'Audience',
            rows: 2,
            maxLength,
            isOptional: true,
            hint: 'Who has the problem?',
          })}
          ${field({
            name: 'hypothesis',
            label: 'Hypothesis',
            rows: 2,
            maxLength,
            isOptional: true,
            hint: 'What do you expect to be true?',
          })}
          ${field({
            name: 'successCriteria',
            label: 'Success criteria',
            rows: 3,
            isOptional: true,
            hint:
              'What would show that the hypothesis is true? One on each line: ' +
              `up to ${successCriteriaMax} lines of ${successCriterionLengthMax} characters.`,
          })}
          ${field({
            name: 'question',
            label: 'Question',
            maxLength: questionLengthMax,
            isOptional: true,
            hint: `What is to be decided? Up to ${questionLengthMax} characters.`,
          })}
          ${field({
            name: 'decideBy',
            label: 'Decide by',
            type: 'date',
            isOptional: true,
            hint: 'The seed is due on this day, and overdue after it (UTC).',
          })}
          ${renderSortingFields(sorting, { base, state, stored: stored ?? {}, conflicts })}
          ${renderAttachmentsField(visit, {
            state,
            ...(seed && { stored: seed.attachments }),
            isConflict: conflicts.includes('attachmentIds'),
          })}
          <div class="line">
            <button>${seed ? 'Save' : 'Create seed'}</button>
            <a class="button quiet" href="${path}">Cancel</a>
          </div>`,
      })}`,
  }
}

/** What people write about a seed, its team, labels and files, as they are stored. */
type SeedTexts = Pick<Seed, (typeof fields)[number]> & Pick<NewSeed, 'attachmentIds' | 'teamId' | 'labelIds'>

function textsOf(seed: Seed): SeedTexts {
  const { title, summary, problem, audience, hypothesis, successCriteria, question, decideBy } = seed
  const attachmentIds = seed.attachments.map(({ id }) => id)
  const labelIds = seed.labels.map(({ id }) => id).sort()
  return {
    ...{ title, summary, problem, audience, hypothesis, successCriteria, question, decideBy },
    ...{ attachmentIds, teamId: seed.teamId, labelIds },
  }
}

function toTexts({ problem, audience, hypothesis, question, ...input }: SeedFormFields): SeedTexts {
  return {
    ...input,
    problem: problem === '' ? null : problem,
    audience: audience === '' ? null : audience,
    hypothesis: hypothesis === '' ? null : hypothesis,
    question: question === '' ? null : question,
  }
}

function showText(text: SeedTexts[(typeof fields)[number]]): string {
  return Array.isArray(text) ? text.join('\n') : (text ?? '')
}

type SeedFormFields = Required<Omit<NewSeed, 'attachmentIds' | 'criteria' | 'teamId' | 'labelIds'>> &
  Pick<NewSeed, 'attachmentIds' | 'teamId' | 'labelIds'>

/** The fields of the form. */
export function readSeedForm(form: Pick<FastifyRequest, 'body'>): SeedFormFields {
  const attachmentIds = readAttachmentIds(form)
  return {
    ...(attachmentIds && { attachmentIds }),
    ...readSortingFields(form),
    title: readField(form, 'title'),
    summary: readText(form, 'summary'),
    problem: readText(form, 'problem').trim(),
    audience: readText(form, 'audience').trim(),
    hypothesis: readText(form, 'hypothesis').trim(),
    successCriteria: readText(form, 'successCriteria')
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== ''),
    question: readField(form, 'question').trim(),
    decideBy: readField(form, 'decideBy').trim() || null,
  }
}
