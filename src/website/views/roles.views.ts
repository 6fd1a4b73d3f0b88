import { mayGrant, roles, type Role } from '../../domain/roles.ts'
import { html, type Html } from '../components/html.ts'

export const roleNames: Readonly<Record<Role, string>> = {
  owner: 'Owner',
  admin: 'Admin',
  member: 'Member',
  viewer: 'Viewer',
}

/** What a person with a role is. */
export const roleNouns: Readonly<Record<Role, string>> = {
  owner: 'an owner',
  admin: 'an admin',
  member: 'a member',
  viewer: 'a viewer',
}

/** What each role may do. */
export const roleDescriptions: Readonly<Record<Role, string>> = {
  owner: 'Can do everything, including changing and removing owners.',
  admin: 'Manages members, invites, teams and the settings of the workspace.',
  member: 'Creates and joins seeds, and adds evidence.',
  viewer: 'Can read everything, but change nothing.',
}

/** A role as a tag. */
export function renderRole(role: Role): Html {
  return html`<span class="tag role-${role}">${roleNames[role]}</span>`
}

/** That a member is suspended, as a tag. */
export function renderSuspended(): Html {
  return html`<span class="tag warn">Suspended</span>`
}

/** The roles that a member may grant, lowest first, so that the default grants the least. */
export function grantable(role: Role): { value: Role; label: string }[] {
  return roles
    .filter((candidate) => mayGrant(role, candidate))
    .toReversed()
    .map((value) => ({ value, label: roleNames[value] }))
}

/** The choice of a role among those that `actor` may grant, with a sentence about each. */
export function renderRoleOptions({ actor, current }: { actor: Role; current: Role }): Html {
  return html`<fieldset class="options">
    <legend class="visually-hidden">Role</legend>
    ${grantable(actor)
      .toReversed()
      .map(
        ({ value, label }) =>
          html`<div class="check">
            <input
              type="radio"
              id="role-${value}"
              name="role"
              value="${value}"
              required
              ${value === current && html`checked`}
            />
            <label for="role-${value}">
              <strong>${label}</strong> <span class="hint">${roleDescriptions[value]}</span>
            </label>
          </div>`,
      )}
  </fieldset>`
}
