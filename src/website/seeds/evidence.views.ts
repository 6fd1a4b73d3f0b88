import type { Seed } from '../../areas/seeds/seeds.service.ts'
import { renderForm, type FormState } from '../components/forms.ts'
import { html, type Html } from '../components/html.ts'
import type { WorkspaceVisit } from '../plugins/workspace-visit.ts'
import { evidenceFormFields, renderEvidenceFields } from './evidence-form.views.ts'

/** Whether the form that adds evidence was refused, and not another one of the page. */
export function isAboutEvidence(state: FormState): boolean {
  return state.values.verdict !== undefined
}

/** The form that adds evidence to a seed. */
export function renderEvidenceForm({ base, request, state }: WorkspaceVisit, seed: Seed): Html {
  const isRefused = isAboutEvidence(state)
  return html`<details class="reveal" ${isRefused && html`open`}>
    <summary>Add evidence</summary>
    ${renderForm({
      request,
      action: `${base}/seeds/${seed.id}/evidence`,
      ...(isRefused && { state }),
      fields: evidenceFormFields,
      body: html`${renderEvidenceFields(state)} <button>Add evidence</button>`,
    })}
  </details>`
}
