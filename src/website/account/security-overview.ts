import type { FastifyRequest } from 'fastify'
import type { Services } from '../../services/services.ts'
import { apiKeysPath } from './api-keys.pages.ts'
import { leavingPath } from './deletion.pages.ts'
import { emailPath } from './email.pages.ts'
import { html } from '../components/html.ts'
import { providersPath } from '../sign-in/identity.pages.ts'
import { passkeysPath } from './passkeys.pages.ts'
import { securityPath, type SecurityRow } from './security.views.ts'
import { twoStepPath } from './two-step.views.ts'
import { countOf, renderDate } from '../components/words.ts'

export const passwordPath = `${securityPath}/password`
export const sessionsPath = `${securityPath}/sessions`

export type OverviewServices = Pick<
  Services,
  | 'apiKeys'
  | 'credentials'
  | 'emailChanges'
  | 'entry'
  | 'identities'
  | 'identityProviders'
  | 'passkeys'
  | 'secondFactor'
  | 'sessions'
>

/** The rows of the security page, with the state of each. */
export async function listSecurityRows(
  services: OverviewServices,
  { principal }: FastifyRequest,
): Promise<SecurityRow[]> {
  const { identities, identityProviders } = services
  const [hasPassword, { since }, passkeys, linked, pendingEmail, keys, browsers] = await Promise.all([
    services.credentials.hasPassword(principal),
    services.secondFactor.state(principal),
    services.passkeys.list(principal),
    Promise.all(identityProviders.map((provider) => identities.findLinked(principal, provider))),
    services.emailChanges.findPending(principal),
    services.apiKeys.list(principal),
    services.sessions.list(principal),
  ])
  const names = identityProviders.filter((_, i) => linked[i] !== undefined).map(({ name }) => name)
  const providersRow: SecurityRow = {
    label: 'Sign-in providers',
    state: names.length === 0 ? 'You have not linked an account.' : `Linked: ${names.join(', ')}.`,
    action: 'Manage',
    href: providersPath,
  }
  const passwordRow: SecurityRow = {
    label: 'Password',
    state: hasPassword ? 'You have a password.' : 'You do not have a password.',
    action: hasPassword ? 'Change' : 'Set',
    href: passwordPath,
  }
  return [
    ...(services.entry.hasPasswords ? [passwordRow] : []),
    {
      label: 'Two-step sign-in',
      state: since === null ? 'Off.' : html`On. Turned on ${renderDate(since)}.`,
      action: since === null ? 'Set up' : 'Manage',
      href: twoStepPath,
    },
    {
      label: 'Passkeys',
      state:
        passkeys.length === 0 ? 'You have no passkeys.' : `You have ${countOf(passkeys.length, 'passkey')}.`,
      action: passkeys.length === 0 ? 'Add' : 'Manage',
      href: passkeysPath,
    },
    ...(identityProviders.length > 0 ? [providersRow] : []),
    {
      label: 'Email address',
      state: html`${principal.user.email}${pendingEmail !== undefined && html`, soon ${pendingEmail}`}`,
      action: 'Change',
      href: emailPath,
    },
    {
      label: 'API keys',
      state: keys.length === 0 ? 'You have no API keys.' : `You have ${countOf(keys.length, 'API key')}.`,
      action: 'Manage',
      href: apiKeysPath,
    },
    {
      label: 'Where you are signed in',
      state: `On ${countOf(browsers.length, 'device')}.`,
      action: 'Show',
      href: sessionsPath,
    },
    {
      label: 'Leaving',
      state: 'Export your data, or delete your account.',
      action: 'Open',
      href: leavingPath,
    },
  ]
}
