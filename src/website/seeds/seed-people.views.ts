import type { Seed, SeedParticipant } from '../../areas/seeds/seeds.service.ts'
import { emailLengthMax } from '../../kernel/email.ts'
import { isClosed } from '../../domain/seeds.ts'
import { renderOpened } from '../components/edits.ts'
import { renderAction, renderField, renderForm, renderSelect } from '../components/forms.ts'
import { html, type Content, type Html } from '../components/html.ts'
import { renderFace } from '../components/layout.ts'
import { countOf } from '../components/words.ts'
import type { WorkspaceVisit } from '../plugins/workspace-visit.ts'
import { whatIsJoining, whatIsLead } from './seed-words.ts'

/** On a phone, the evidence stands below them. */
const shownMax = 8

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
        : renderPeople(base, seed, people.slice(0, shownMax))
    }
    ${
      people.length > shownMax &&
      html`<details class="reveal">
        <summary>${countOf(seed.participantCount - shownMax, 'other')}</summary>
        ${renderPeople(base, seed, people.slice(shownMax))}
        ${rest > 0 && html`<p class="hint">and ${countOf(rest, 'other')}</p>`}
      </details>`
    }
    ${renderLeadForm(visit, seed, people)} ${renderAsking(visit, seed)}
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
              body: html`<button class="quiet wide">Join this seed</button>
                <p class="hint">${whatIsJoining}</p>`,
            })
    }
  </section>`
}

function renderPeople(base: string, { leadUserId }: Seed, people: readonly SeedParticipant[]): Html {
  return html`<ul class="faces">
    ${people.map(
      ({ userId, name, image }) =>
        html`<li>
          ${renderFace({ id: userId, name, image }, 28)}
          <a href="${base}/people/${userId}"><bdi>${name}</bdi></a>
          ${userId === leadUserId && html`<span class="tag">Lead</span>`}
        </li>`,
    )}
  </ul>`
}

/** The form that asks a member to join, by a part of the name or the address, which also holds in a large workspace. */
function renderAsking({ base, may, request }: WorkspaceVisit, seed: Seed): Content {
  if (!may('seeds.invitePerson') || isClosed(seed.status)) return false
  return html`<details class="reveal">
    <summary>Ask someone to join</summary>
    ${renderForm({
      request,
      action: `${base}/seeds/${seed.id}/ask`,
      body: html`${renderField({
          name: 'person',
          label: 'Name or email of a member',
          maxLength: emailLengthMax,
        })}
        ${renderSelect({
          name: 'as',
          label: 'As',
          value: 'participant',
          choices: [
            { value: 'participant', label: 'Participant' },
            { value: 'lead', label: 'Participant and lead' },
          ],
        })} <button class="quiet">Ask</button>`,
    })}
  </details>`
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
    <p class="hint">${whatIsLead}</p>
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
