import type { FastifyRequest } from 'fastify'
import { agentScopes, validationKitScope, type AgentScope } from '../../kernel/agent.ts'
import { renderCheckbox } from '../components/forms.ts'
import { readField } from '../components/sent-form.ts'
import { html, type Html } from '../components/html.ts'

const textsOfScope: Record<AgentScope, string> = {
  'validation-kit:read': 'Read seeds and their evidence',
  'workspace:read': 'Read people, activity and comments',
  'seeds:write':
    'Create, change, join and leave seeds, write comments, and add, correct and withdraw evidence',
  'workspace:write':
    'Create, rename and delete teams, change who is in them, and invite people as members or viewers',
}

/** The scopes that a person may give or not. */
const optionalScopes = agentScopes.filter((scope) => scope !== validationKitScope)

/** What a scope allows, for people. */
export function describeScope(scope: string): string {
  return (textsOfScope as Record<string, string>)[scope] ?? scope
}

/**
 * What an agent may do: what all agents may, and a checkbox for each of the rest. `idPrefix` is required if the page has
 * several of these.
 */
export function renderScopeChoice(options: {
  chosen: readonly string[]
  /** The scopes that an agent asks for. */
  asked?: readonly string[]
  idPrefix?: string
}): Html {
  const { chosen, asked = [], idPrefix = '' } = options
  return html`<p>${describeScope(validationKitScope)}</p>
    <fieldset>
      <legend>Also allow</legend>
      ${optionalScopes.map((scope) =>
        renderCheckbox({
          name: scope,
          id: `${idPrefix}${scope}`,
          label: html`${describeScope(scope)}${
            asked.includes(scope) && html` <span class="hint">(the agent asks for this)</span>`
          }`,
          isChecked: chosen.includes(scope),
        }),
      )}
    </fieldset>`
}

/** The optional scopes that were checked. */
export function readScopes(request: Pick<FastifyRequest, 'body'>): AgentScope[] {
  return optionalScopes.filter((scope) => readField(request, scope) !== '')
}
