import type { FastifyRequest } from 'fastify'
import type { ConsentRequest } from '../../agent-oauth/consents.ts'
import { paths } from '../../agent-oauth/protocol.ts'
import { grantDays, grantDaysDefault } from '../../kernel/agent.ts'
import { serviceName } from '../../kernel/service-name.ts'
import { renderForm, renderSelect } from '../components/forms.ts'
import { html, type Html } from '../components/html.ts'
import type { Page } from '../plugins/pages.ts'
import { readScopes, renderScopeChoice } from '../views/scopes.views.ts'

/** Asks a person to allow or deny an agent. Shows which agent asks, and where the browser is redirected. */
export function renderConsent(options: {
  request: FastifyRequest
  consent: ConsentRequest
  choices: readonly { id: string; name: string }[]
  /** Whether the person may create a workspace. */
  canCreate: boolean
}): Page {
  const { request, consent, choices, canCreate } = options
  return {
    title: 'Allow access?',
    // The answer redirects to the agent: another site, or a program on the person's computer.
    mayLeave: true,
    body: html`<section class="narrow">
      <h1>Allow access?</h1>
      <p>
        <strong><bdi>${consent.clientName}</bdi></strong> ${renderIdentity(consent)} wants access to one of
        your workspaces in ${serviceName}.
      </p>
      ${renderAccount(request)}
      ${renderForm({
        request,
        action: `${paths.consent}/${consent.uid}`,
        body: choices.length === 0 ? renderNoWorkspace(canCreate) : renderChoice(request, consent, choices),
      })}
    </section>`,
  }
}

/** Clients choose their own names. Only the host of a metadata document identifies them. */
function renderIdentity({ metadataHost }: ConsentRequest): Html {
  return metadataHost === null
    ? html`<span class="hint">(unverified name)</span>`
    : html`<span class="hint">(${metadataHost})</span>`
}

/** Whose decision it is. After signing out, the browser comes back here with another account. */
function renderAccount(request: FastifyRequest): Html {
  const { name, email } = request.principal.user
  return renderForm({
    request,
    action: '/sign-out',
    className: 'inline',
    body: html`<p>
      Signed in as <strong><bdi>${name}</bdi></strong> (${email}).
      <button class="link">Not you? Use another account</button>
    </p>`,
  })
}

function renderChoice(
  request: FastifyRequest,
  consent: ConsentRequest,
  choices: readonly { id: string; name: string }[],
): Html {
  // What the person chose before they were asked to prove that it is them.
  const { values } = request.flash.state
  return html`<h2>It will be able to</h2>
    ${renderScopeChoice({ chosen: readScopes({ body: values }), asked: consent.scopes })}
    ${renderSelect({
      name: 'workspaceId',
      label: 'In the workspace',
      choices: choices.map(({ id, name }) => ({ value: id, label: name })),
      value: values.workspaceId ?? choices[0]?.id ?? '',
    })}
    ${renderSelect({
      name: 'days',
      label: 'For',
      choices: grantDays.map((days) => ({ value: String(days), label: `${days} days` })),
      value: values.days ?? String(grantDaysDefault),
    })}
    <p>
      You can change this or revoke it at any time on the Agents page of the workspace. You will be redirected
      to <strong>${consent.redirectTarget}</strong>.
    </p>
    <p class="choices"><button name="decision" value="allow">Allow</button> ${renderDeny()}</p>`
}

function renderNoWorkspace(canCreate: boolean): Html {
  const way = canCreate ? 'Create or join a workspace' : 'Join a workspace'
  return html`<p>You are not a member of a workspace yet. ${way}, and you return here.</p>
    <p class="choices"><a class="button" href="/onboarding">${way}</a> ${renderDeny()}</p>`
}

function renderDeny(): Html {
  return html`<button name="decision" value="deny" class="quiet">Deny</button>`
}
