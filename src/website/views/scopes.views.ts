import type { FastifyRequest } from 'fastify'
import { agentScopes, validationKitScope, type AgentScope } from '../../domain/agent.ts'
import type { Role } from '../../domain/roles.ts'
import { renderCheckbox } from '../components/forms.ts'
import { readField } from '../components/sent-form.ts'
import { html, type Html } from '../components/html.ts'
import { roleNouns } from './roles.views.ts'

const textsOfScope: Record<AgentScope, string> = {
  'validation-kit:read': 'Read seeds and their evidence',
  'workspace:read': 'Read people, activity, comments and your inbox',
  'seeds:write':
    'Create, change, join, leave and follow seeds, ask people to join them, write comments, add, correct and withdraw ' +
    'evidence, edit and delete comments and delete seeds of its own, mark your notifications as read, and be asked by ' +
    'comments',
  'workspace:write':
    'Create, rename and delete teams, change who is in them, and invite people as members or viewers',
}

const namesOfScope: Record<AgentScope, string> = {
  'validation-kit:read': 'Reads seeds and evidence',
  'workspace:read': 'Reads people, activity, comments, inbox',
  'seeds:write': 'Writes seeds, evidence, comments',
  'workspace:write': 'Manages teams, invites people',
}

/** The scopes that a person may give or not. */
const optionalScopes = agentScopes.filter((scope) => scope !== validationKitScope)

/** What a scope allows, for people. */
export function describeScope(scope: string): string {
  return (textsOfScope as Record<string, string>)[scope] ?? scope
}

/** What an agent may do, in few words for each scope. */
export function renderScopes(scopes: readonly string[]): Html {
  return html`<p class="tags" role="list" aria-label="What it may do">
    ${scopes.map(
      (scope) =>
        html`<span class="tag" role="listitem" title="${describeScope(scope)}"
          >${(namesOfScope as Record<string, string>)[scope] ?? scope}</span
        >`,
    )}
  </p>`
}

/**
 * What an agent may do: what all agents may, a checkbox for each of the rest that the role of its person allows, and what
 * the role does not allow. `idPrefix` is required if the page has several of these.
 */
export function renderScopeChoice(options: {
  chosen: readonly string[]
  /** The scopes that an agent asks for. */
  asked?: readonly string[]
  /** The scopes that it has now. */
  current?: readonly string[]
  /** The role of the person in the workspace, and the scopes that it allows. */
  role: Role
  offered: readonly AgentScope[]
  idPrefix?: string
}): Html {
  const { chosen, asked = [], current = [], role, offered, idPrefix = '' } = options
  const marksOf = (scope: AgentScope) => [
    ...(current.includes(scope) ? ['it has this now'] : []),
    ...(asked.includes(scope) ? ['the agent asks for this'] : []),
  ]
  const renderMarks = (marks: readonly string[]) =>
    marks.length > 0 && html` <span class="hint">(${marks.join('; ')})</span>`
  const refused = optionalScopes.filter((scope) => !offered.includes(scope))
  return html`<p>${describeScope(validationKitScope)}</p>
    <fieldset>
      <legend>Also allow</legend>
      ${optionalScopes
        .filter((scope) => offered.includes(scope))
        .map((scope) =>
          renderCheckbox({
            name: scope,
            id: `${idPrefix}${scope}`,
            label: html`${describeScope(scope)}${renderMarks(marksOf(scope))}`,
            isChecked: chosen.includes(scope),
          }),
        )}
    </fieldset>
    ${
      refused.length > 0 &&
      html`<div class="hint">
        You are ${roleNouns[role]} of this workspace, so an agent of yours cannot:
        <ul>
          ${refused.map((scope) => html`<li>${describeScope(scope)}${renderMarks(marksOf(scope))}</li>`)}
        </ul>
      </div>`
    }`
}

/** What a program may do that acts without a person: a checkbox for each scope that the role of its account allows. */
export function renderServiceScopes(chosen: readonly string[], offered: readonly AgentScope[]): Html {
  return html`<fieldset>
    <legend>What it may do, besides reading seeds and evidence</legend>
    ${optionalScopes
      .filter((scope) => offered.includes(scope))
      .map((scope) =>
        renderCheckbox({ name: scope, label: namesOfScope[scope], isChecked: chosen.includes(scope) }),
      )}
  </fieldset>`
}

/** The optional scopes that were checked, of those that were offered. */
export function readScopes(
  request: Pick<FastifyRequest, 'body'>,
  offered: readonly AgentScope[],
): AgentScope[] {
  return optionalScopes.filter((scope) => offered.includes(scope) && readField(request, scope) !== '')
}
