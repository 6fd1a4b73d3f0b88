import type { FastifyRequest } from 'fastify'
import type { ConsentRequest } from '../../agents/oauth/consents.ts'
import { paths } from '../../agents/oauth/protocol.ts'
import { grantDays, grantDaysDefault, type AgentScope } from '../../domain/agent.ts'
import { scopesToBeAsked } from '../../domain/agent-requests.ts'
import { serviceName } from '../../domain/service-name.ts'
import { renderCheckbox, renderForm, renderSelect } from '../components/forms.ts'
import { html, type Content, type Html } from '../components/html.ts'
import { formatDay } from '../components/words.ts'
import type { Page } from '../plugins/pages.ts'
import { describeScope, renderScopeChoice } from '../views/scopes.views.ts'
import {
  asNow,
  describeChoice,
  findTicked,
  findWarnings,
  hasWarnings,
  type Offer,
  type Warnings,
} from './consent-choice.ts'

/** Asks a person to allow or deny an agent. Shows which agent asks, and where the browser is redirected. */
export function renderConsent(options: {
  request: FastifyRequest
  consent: ConsentRequest
  /** Undefined if the person is in no workspace. */
  offer: Offer | undefined
  /** Whether the person may create a workspace. */
  canCreate: boolean
}): Page {
  const { request, consent, offer, canCreate } = options
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
        body: offer ? renderChoice(request, consent, offer) : renderNoWorkspace(canCreate),
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

function renderChoice(request: FastifyRequest, consent: ConsentRequest, offer: Offer): Html {
  const { choices, workspace, current, asked, offered } = offer
  // What the person chose before they were asked to prove that it is them, or before they were warned.
  const { values } = request.flash.state
  const isOfWorkspace = values.shown === undefined || values.shown === workspace.id
  const chosen = isOfWorkspace ? values : {}
  const ticked = findTicked(offer, chosen)
  const isSent = chosen.decision !== undefined
  return html`${renderSelect({
      name: 'workspaceId',
      label: 'In the workspace',
      choices: choices.map(({ id, name }) => ({ value: id, label: name })),
      value: workspace.id,
      // What can be given depends on it.
      script: html`data-reload`,
    })}
    <input type="hidden" name="shown" value="${workspace.id}" />
    <h2>It will be able to</h2>
    ${renderScopeChoice({ chosen: ticked.scopes, asked, current: current?.scopes ?? [], role: workspace.role, offered })}
    ${
      scopesToBeAsked.every((scope) => offered.includes(scope)) &&
      html`${renderCheckbox({
          name: 'membersMayAsk',
          label: 'Members may ask it',
          isChecked: ticked.membersMayAsk,
        })}
        <p class="hint">
          In comments, as you can. Members then see its name and that it acts for you. It must be able to read
          people and to write seeds, and must not change teams.
        </p>`
    }
    ${renderSelect({
      name: 'days',
      label: 'For',
      choices: [
        ...(current
          ? [{ value: asNow, label: `As now, until ${formatDay(current.expiresAt.toISOString())}` }]
          : []),
        ...grantDays.map((days) => ({ value: String(days), label: `${days} days` })),
      ],
      value: chosen.days ?? (current ? asNow : String(grantDaysDefault)),
    })}
    ${current && html`<p>It has access to this workspace already. What you allow replaces that.</p>`}
    ${isSent && renderWarnings(findWarnings(offer, ticked))}
    ${isSent && html`<input type="hidden" name="seen" value="${describeChoice(offer, ticked)}" />`}
    <p>
      You can change this or revoke it at any time on the Agents page of the workspace. You will be redirected
      to <strong>${consent.redirectTarget}</strong>.
    </p>
    <p class="choices"><button name="decision" value="allow">Allow</button> ${renderDeny()}</p>`
}

/** Says before the second click on Allow what it does. */
function renderWarnings(warnings: Warnings): Content {
  const { lost, notGiven, isNotAskable } = warnings
  const list = (scopes: readonly AgentScope[]) =>
    html`<ul>
      ${scopes.map((scope) => html`<li>${describeScope(scope)}</li>`)}
    </ul>`
  if (!hasWarnings(warnings)) return false
  return html`<div class="alert" role="alert">
    ${
      lost.length > 0 &&
      html`<p>This takes away what the agent has now:</p>
        ${list(lost)}`
    }
    ${
      notGiven.length > 0 &&
      html`<p>The agent asks for something else, and will not get it:</p>
        ${list(notGiven)}`
    }
    ${isNotAskable && html`<p>Members will not be able to ask it with this choice.</p>`}
    <p>Allow it like this, or change your choice above.</p>
  </div>`
}

function renderNoWorkspace(canCreate: boolean): Html {
  const way = canCreate ? 'Create or join a workspace' : 'Join a workspace'
  return html`<p>You are not a member of a workspace yet. ${way}, and you return here.</p>
    <p class="choices"><a class="button" href="/onboarding">${way}</a> ${renderDeny()}</p>`
}

function renderDeny(): Html {
  return html`<button name="decision" value="deny" class="quiet">Deny</button>`
}
