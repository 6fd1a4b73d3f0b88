import type { Seed, SeedParticipant } from '../../areas/seeds/seeds.service.ts'
import { isClosed } from '../../domain/seeds.ts'
import { renderOpened } from '../components/edits.ts'
import { renderAction, renderForm, renderSelect } from '../components/forms.ts'
import { html, type Content, type Html } from '../components/html.ts'
import { renderFace } from '../components/layout.ts'
import { countOf } from '../components/words.ts'
import type { WorkspaceVisit } from '../plugins/workspace-visit.ts'

/** The participants of a seed, with its lead, and the forms for joining, leaving and choosing the lead. */
export function renderParticipants(visit: WorkspaceVisit, seed: Seed, people: SeedParticipant[]): Html {
  const { base, may, request } = visit
  const path = `${base}/seeds/${seed.id}`
  const rest = seed.participantCount - people.length
  return html`<section aria-labelledby="people">
    <h2 id="people">Participants</h2>
    ${
      people.length === 0
        ? html`<p class="hint">Nobody takes part.</p>`
        : html`<ul class="faces">
            ${people.map(
              ({ userId, name, image }) =>
                html`<li>
                  ${renderFace({ id: userId, name, image }, 28)}
                  <a href="${base}/people/${userId}"><bdi>${name}</bdi></a>
                  ${userId === seed.leadUserId && html`<span class="tag">Lead</span>`}
                </li>`,
            )}
          </ul>`
    }
    ${rest > 0 && html`<p class="hint">and ${countOf(rest, 'other')}</p>`}
    ${renderLeadForm(visit, seed, people)}
    ${
      seed.joined
        ? may('seeds.leave') &&
          renderAction(request, { action: `${path}/leave`, label: 'Leave', description: 'the seed' })
        : isClosed(seed.status)
          ? html`<p class="hint">
              ${seed.status === 'dropped' ? 'Dropped' : 'Validated'} seeds cannot be joined. Reopen it first.
            </p>`
          : may('seeds.join') &&
            renderForm({
              request,
              action: `${path}/join`,
              body: html`<button class="wide">Join this seed</button>`,
            })
    }
  </section>`
}

/** The choice of the lead among the participants. It is refused if another one was chosen since. */
function renderLeadForm(
  { base, may, request }: WorkspaceVisit,
  seed: Seed,
  people: SeedParticipant[],
): Content {
  if (!may('seeds.update') || people.length === 0) return false
  const leadUserId = seed.leadUserId ?? ''
  return html`<details class="reveal">
    <summary>${leadUserId === '' ? 'Choose a lead' : 'Change the lead'}</summary>
    ${renderForm({
      request,
      action: `${base}/seeds/${seed.id}/lead`,
      className: 'line',
      body: html`${renderOpened({ leadUserId: seed.leadUserId })}
        ${renderSelect({
          name: 'leadUserId',
          label: 'Lead',
          value: leadUserId,
          choices: [
            { value: '', label: 'Nobody' },
            ...people.map(({ userId, name }) => ({ value: userId, label: name })),
          ],
        })} <button class="quiet">Save</button>`,
    })}
  </details>`
}
