import type { FastifyRequest } from 'fastify'
import type { ConsentRequest } from '../agent-oauth/agent-oauth.ts'
import { renderForm, renderSelect } from './forms.ts'
import { html, type Html } from './html.ts'
import type { Page } from './pages.ts'

const scopeTexts: Record<string, string> = {
  'validation-kit:read': 'Read the validation kit: the seeds of the workspace, with their evidence.',
}

/** Asks a person whether an agent may act for them, saying who asks and where they would be sent back to. */
export function renderConsent(options: {
  request: FastifyRequest
  consent: ConsentRequest
  choices: readonly { id: string; name: string }[]
}): Page {
  const { request, consent, choices } = options
  return {
    title: 'Allow access?',
    // The answer leads to the agent: to another site, or to a program on the person's machine.
    mayLeave: true,
    body: html`<section class="narrow">
      <h1>Allow access?</h1>
      <p>
        <strong><bdi>${consent.clientName}</bdi></strong> ${renderIdentity(consent)} asks to act for you in
        one workspace.
      </p>
      <h2>It may</h2>
      <ul>
        ${consent.scopes.map((scope) => html`<li>${scopeTexts[scope] ?? scope}</li>`)}
      </ul>
      <p>
        For ${consent.durationDays} days at most. You can stop it at any time, in the settings of the
        workspace under Agents. You will be sent back to <strong>${consent.redirectTarget}</strong>.
      </p>
      ${choices.length === 0 ? renderNoWorkspace() : renderChoice(request, consent, choices)}
    </section>`,
  }
}

/** Anybody can call themselves anything: only the host of a metadata document says who it is. */
function renderIdentity({ metadataHost }: ConsentRequest): Html {
  return metadataHost === null
    ? html`<span class="hint">(unverified: it has given this name itself)</span>`
    : html`<span class="hint">(${metadataHost})</span>`
}

function renderChoice(
  request: FastifyRequest,
  consent: ConsentRequest,
  choices: readonly { id: string; name: string }[],
): Html {
  return renderForm({
    request,
    action: `/agent/oauth/consent/${consent.uid}`,
    body: html`${renderSelect({
        name: 'workspaceId',
        label: 'Workspace',
        choices: choices.map(({ id, name }) => ({ value: id, label: name })),
        value: choices[0]?.id ?? '',
      })}
      <p>
        <button name="decision" value="allow">Allow</button>
        <button name="decision" value="deny" class="quiet">Deny</button>
      </p>`,
  })
}

function renderNoWorkspace(): Html {
  return html`<p class="alert" role="alert">
    You are in no workspace yet. <a href="/onboarding">Create one</a> first.
  </p>`
}
