import type { FastifyRequest } from 'fastify'
import type { ServiceClient } from '../../agents/service-clients/service-clients.service.ts'
import type { RestrictedApiKey } from '../../areas/apiKeys/apiKeys.service.ts'
import type { ServiceAccount } from '../../areas/serviceAccounts/serviceAccounts.service.ts'
import { agentScopes, scopesOfRole } from '../../domain/agent.ts'
import { keyAccesses, type KeyAccess } from '../../domain/key-restrictions.ts'
import { mayGrant, type Role } from '../../domain/roles.ts'
import {
  serviceClientDays,
  serviceClientMethods,
  serviceRoles,
  type ServiceClientMethod,
  type ServiceRole,
} from '../../domain/service-accounts.ts'
import { labelLengthMax } from '../../kernel/text.ts'
import {
  renderAction,
  renderField,
  renderForm,
  renderNameForm,
  renderRefusal,
  renderSelect,
  stateOf,
} from '../components/forms.ts'
import { html, type Content, type Html } from '../components/html.ts'
import { renderConfirmed, renderRows } from '../components/lists.ts'
import { renderDone, renderNewSecret } from '../components/notice.ts'
import { renderDate, renderTime } from '../components/words.ts'
import type { Page } from '../plugins/pages.ts'
import { sectionOf, type WorkspaceVisit } from '../plugins/workspace-visit.ts'
import { renderRole, roleDescriptions, roleNames } from '../views/roles.views.ts'
import { renderScopes, renderServiceScopes } from '../views/scopes.views.ts'

/** Where the pages of service accounts are, below the path of the workspace. */
export const serviceAccountsPath = '/settings/service-accounts'

/** When a new key expires, in days. */
export const keyLifetimes = [
  { value: '', label: 'Never' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In a year' },
] as const

const accessNames: Record<KeyAccess, string> = {
  full: 'Everything that the service account may do',
  read: 'Only read',
}

const methodNames: Record<ServiceClientMethod, string> = {
  client_secret_basic: 'By a secret (client_secret_basic)',
  private_key_jwt: 'By a key of its own (private_key_jwt)',
}

/** The list of service accounts, with a form for a new one. */
export function renderServiceAccounts(visit: WorkspaceVisit, accounts: readonly ServiceAccount[]): Page {
  const { base, request, workspace } = visit
  const action = `${base}${serviceAccountsPath}`
  const state = stateOf(visit.state, action)
  return {
    title: 'Service accounts',
    section: sectionOf(visit, 'Service accounts'),
    body: html`<h1>Service accounts</h1>
      <p>
        A service account is a member of this workspace that nobody signs in as. A program acts as it with an
        API key or an OAuth client, which stay when the person who made them leaves.
      </p>
      ${renderDone(request)}
      ${renderRows(
        accounts.map((account) => renderRow(`${action}/${account.id}`, account)),
        html`<p>No service accounts yet.</p>`,
      )}
      <section class="card" aria-labelledby="add">
        <h2 id="add">Add a service account</h2>
        ${renderForm({
          request,
          action,
          state,
          fields: ['name'],
          body: html`${renderField({
              name: 'name',
              label: 'Name',
              maxLength: labelLengthMax,
              autocomplete: 'off',
              hint: 'What the program does, such as “CRM sync”.',
              state,
            })}
            ${renderSelect({
              name: 'role',
              label: 'Role',
              value: state.values.role ?? 'viewer',
              choices: rolesOf(workspace.role),
            })} <button>Add service account</button>`,
        })}
      </section>`,
  }
}

function renderRow(path: string, { name, role, createdByName, lastUsedAt }: ServiceAccount): Html {
  return html`<div class="row">
    <div class="grow">
      <a class="title" href="${path}"><bdi>${name}</bdi></a>
      <span class="hint">
        ${createdByName !== null && html`made by <bdi>${createdByName}</bdi> · `}
        ${lastUsedAt === null ? 'never used' : html`last used ${renderTime(lastUsedAt)}`}
      </span>
    </div>
    ${renderRole(role)}
  </div>`
}

/** The page of a service account: its name, its role, its keys and its OAuth clients. */
export function renderServiceAccount(
  visit: WorkspaceVisit,
  account: ServiceAccount,
  { keys, clients }: { keys: readonly RestrictedApiKey[]; clients: readonly ServiceClient[] },
): Page {
  const { base, request } = visit
  const { name, role, userId } = account
  const path = `${base}${serviceAccountsPath}/${account.id}`
  return {
    title: name,
    section: sectionOf(visit, 'Service accounts'),
    body: html`<div class="row">
        <div class="grow">
          <h1><bdi>${name}</bdi></h1>
          <a href="${base}/people/${userId}">What it did</a>
        </div>
        ${renderRole(role)}
      </div>
      ${renderDone(request)} ${renderSecret(request)}
      ${request.flash.state.action !== path && renderRefusal(request)}
      <h2>API keys</h2>
      ${renderRows(
        keys.map((key) => renderKey(request, key, path)),
        html`<p>It has no keys.</p>`,
      )}
      ${renderNewKey(visit, path)}
      <h2>OAuth clients</h2>
      <p class="hint">
        With a client, a program acts as this service account over MCP, as agents do, and without a person.
        Its access ends after a year, unless it is prolonged.
      </p>
      ${renderRows(
        clients.map((client) => renderClient(request, client, path)),
        html`<p>It has no clients.</p>`,
      )}
      ${renderNewClient(visit, account, path)}
      <div class="settings">${renderSettings(visit, account, path)}</div>`,
  }
}

/** The secret of a new key or client, which is shown once. */
function renderSecret({ flash }: FastifyRequest): Content {
  const { name, secret, isRotated, clientId } = flash.shown
  if (name === undefined || secret === undefined) return false
  const named = html`<strong><bdi>${name}</bdi></strong>`
  if (clientId !== undefined)
    return renderNewSecret({
      text: html`Copy the secret of the client ${named} now. It is not shown again. Its client id is
        <code>${clientId}</code>.${isRotated !== undefined && ' The old secret works for another day.'}`,
      label: html`Secret of the client <bdi>${name}</bdi>`,
      secret,
    })
  return renderNewSecret({
    text: html`Copy the key ${named} now. It is not shown
    again.${isRotated !== undefined && ' The old key works for another day.'}`,
    label: html`API key <bdi>${name}</bdi>`,
    secret,
  })
}

function renderClient(request: FastifyRequest, client: ServiceClient, path: string): Html {
  const { id, clientId, name, method, jwksUri, scopes, createdAt, lastUsedAt, expiresAt } = client
  const { formerSecretUntil } = client
  const fields = { serviceClientId: id }
  const description = html`the client <bdi>${name}</bdi>`
  return html`<div class="row">
    <div class="grow">
      <strong><bdi>${name}</bdi></strong> <code>${clientId}</code>
      <span class="hint">
        ${methodNames[method]} ${jwksUri !== null && html`· keys at <bdi>${jwksUri}</bdi>`} · created
        ${renderDate(createdAt)} ·
        ${lastUsedAt === null ? 'never used' : html`last used ${renderTime(lastUsedAt)}`} · access ends on
        ${renderDate(expiresAt)}
        ${formerSecretUntil !== null && html`· the former secret works until ${renderTime(formerSecretUntil)}`}
      </span>
      ${renderScopes(scopes)}
    </div>
    ${
      method === 'client_secret_basic' &&
      formerSecretUntil === null &&
      renderConfirmed({
        label: 'Rotate',
        description,
        question: 'A new secret takes the place of its secret. The old one works for another day.',
        action: renderAction(request, { action: `${path}/clients/rotate`, label: 'Rotate secret', fields }),
      })
    }
    ${renderConfirmed({
      label: 'Prolong',
      description,
      question: `Its access then ends ${serviceClientDays} days from now.`,
      action: renderAction(request, { action: `${path}/clients/prolong`, label: 'Prolong access', fields }),
    })}
    ${renderConfirmed({
      label: 'Revoke',
      description,
      question: 'Programs that use this client lose access immediately.',
      action: renderAction(request, {
        action: `${path}/clients/revoke`,
        label: 'Revoke client',
        fields,
        isDangerous: true,
      }),
    })}
  </div>`
}

function renderNewClient(visit: WorkspaceVisit, { role }: ServiceAccount, path: string): Html {
  const action = `${path}/clients`
  const state = stateOf(visit.state, action)
  const chosen = agentScopes.filter((scope) => state.values[scope] !== undefined)
  return html`<section class="card" aria-labelledby="add-client">
    <h2 id="add-client">Add a client</h2>
    ${renderForm({
      request: visit.request,
      action,
      state,
      fields: ['name', 'jwksUri'],
      body: html`${renderField({
          name: 'name',
          id: 'client-name',
          label: 'Client name',
          maxLength: labelLengthMax,
          autocomplete: 'off',
          state,
        })}
        ${renderSelect({
          name: 'method',
          label: 'How it authenticates',
          value: state.values.method ?? 'client_secret_basic',
          choices: serviceClientMethods.map((value) => ({ value, label: methodNames[value] })),
        })}
        ${renderField({
          name: 'jwksUri',
          label: 'URL of its public keys',
          type: 'url',
          maxLength: 1024,
          autocomplete: 'off',
          isOptional: true,
          hint: 'Only for a client with a key of its own. The API also takes the keys themselves.',
          state,
        })}
        ${renderServiceScopes(chosen, scopesOfRole(role, agentScopes))}
        <button class="quiet">Create client</button>`,
    })}
  </section>`
}

function renderKey(request: FastifyRequest, key: RestrictedApiKey, path: string): Html {
  const { id, name, tokenPrefix, lastFour, createdAt, lastUsedAt, access, expiresAt, isRotated } = key
  const fields = { apiKeyId: id }
  const description = html`the key <bdi>${name}</bdi> that ends in ${lastFour}`
  return html`<div class="row">
    <div class="grow">
      <strong><bdi>${name}</bdi></strong> <code>${tokenPrefix}…${lastFour}</code>
      <span class="hint">
        created ${renderDate(createdAt)} ·
        ${lastUsedAt === null ? 'never used' : html`last used ${renderTime(lastUsedAt)}`}
        ${isRotated && ' · rotated'} ${access === 'read' && ' · only reads'}
        ${expiresAt !== null && html` · expires on ${renderDate(expiresAt)}`}
      </span>
    </div>
    ${
      !isRotated &&
      renderConfirmed({
        label: 'Rotate',
        description,
        question: 'A new key takes its place. The old one works for another day.',
        action: renderAction(request, { action: `${path}/keys/rotate`, label: 'Rotate key', fields }),
      })
    }
    ${renderConfirmed({
      label: 'Revoke',
      description,
      question: 'Programs that use this key lose access immediately.',
      action: renderAction(request, {
        action: `${path}/keys/revoke`,
        label: 'Revoke key',
        fields,
        isDangerous: true,
      }),
    })}
  </div>`
}

function renderNewKey(visit: WorkspaceVisit, path: string): Html {
  const action = `${path}/keys`
  const state = stateOf(visit.state, action)
  return html`<section class="card" aria-labelledby="add">
    <h2 id="add">Add a key</h2>
    ${renderForm({
      request: visit.request,
      action,
      state,
      fields: ['name'],
      body: html`${renderField({
          name: 'name',
          id: 'key-name',
          label: 'Key name',
          maxLength: labelLengthMax,
          autocomplete: 'off',
          state,
        })}
        ${renderSelect({
          name: 'access',
          label: 'What it may do',
          value: state.values.access ?? 'full',
          choices: keyAccesses.map((value) => ({ value, label: accessNames[value] })),
        })}
        ${renderSelect({
          name: 'expires',
          label: 'When it expires',
          value: state.values.expires ?? '',
          choices: keyLifetimes,
        })} <button>Create key</button>`,
    })}
  </section>`
}

function renderSettings(visit: WorkspaceVisit, { name, role }: ServiceAccount, path: string): Html {
  const { request, workspace } = visit
  const state = stateOf(visit.state, path)
  return html`<section aria-labelledby="manage">
    <h2 id="manage">Manage the service account</h2>
    <div>
      ${renderNameForm(request, { action: path, state, name })}
      ${renderForm({
        request,
        action: `${path}/role`,
        className: 'line',
        body: html`${renderSelect({
            name: 'role',
            label: 'Role',
            value: role,
            choices: rolesOf(workspace.role),
          })}<button class="quiet">Change role</button>`,
      })}
      ${renderConfirmed({
        label: 'Delete',
        description: 'the service account',
        question: 'Its keys and clients stop working immediately. What it has written stays.',
        action: renderAction(request, {
          action: `${path}/delete`,
          label: 'Delete service account',
          isDangerous: true,
        }),
      })}
    </div>
  </section>`
}

/** The roles that somebody may give a service account, with a sentence about each. */
function rolesOf(actor: Role): { value: ServiceRole; label: string }[] {
  return serviceRoles
    .filter((role) => mayGrant(actor, role))
    .map((value) => ({ value, label: `${roleNames[value]}: ${roleDescriptions[value]}` }))
}
