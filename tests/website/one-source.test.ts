import { describe, expect, it } from 'vitest'
import { createDescriptionReader } from '../../scripts/description.ts'
import { formsIn, noteRoutes } from '../support/note-routes.ts'
import { startTestApp } from '../support/test-app.ts'
import { operationOfForm } from './operation-of-form.ts'

const { started: website, routes } = await noteRoutes(() => startTestApp({ environment: {} }))
const forms = formsIn(routes)
const operationIds = createDescriptionReader(website.app.swagger()).operations.map(
  ({ operationId }) => operationId,
)

/** Forms whose operation is not in the API yet. Empty in a release. */
const pending: Record<string, string> = {}

const signsIn = 'Signs people in, or up. Programs have API keys.'
const provesAddress = 'Works by a link that was mailed to the person.'
const changesCredentials = 'Changes how a person signs in, which no API key may.'
const ofSession = 'Is about the sessions of browsers.'
const isConsent = 'Is the consent of a person, which no program may give.'
const ofBrowser = 'Is remembered by the browser alone.'

/** The forms that have no operation, and why. */
const exceptions: Record<string, string> = {
  '/agent/oauth/consent/:uid': isConsent,
  '/invites/:token/passkey': signsIn,
  '/invites/:token/passkey/options': signsIn,
  '/invites/:token/sign-up': signsIn,
  '/invites/:token/switch': ofSession,
  '/sign-in': signsIn,
  '/sign-in/link': signsIn,
  '/sign-in/link/:token': provesAddress,
  '/sign-in/passkey': signsIn,
  '/sign-in/passkey/options': signsIn,
  '/sign-in/second-step': signsIn,
  '/sign-in/keep-account/:token': provesAddress,
  '/sign-in/take-back/:token': provesAddress,
  '/sign-out': ofSession,
  '/sign-up': signsIn,
  '/forgot': signsIn,
  '/reset/:token': provesAddress,
  '/verify': signsIn,
  '/verify-email/:token': provesAddress,
  '/settings/security/confirm/code': signsIn,
  '/settings/security/confirm/link': signsIn,
  '/settings/security/confirm/passkey': signsIn,
  '/settings/security/confirm/password': signsIn,
  '/settings/security/leaving/allow': isConsent,
  '/settings/security/email': changesCredentials,
  '/settings/security/email/cancel': changesCredentials,
  '/settings/security/email/confirm/:token': provesAddress,
  '/settings/security/passkeys': changesCredentials,
  '/settings/security/passkeys/:id/remove': changesCredentials,
  '/settings/security/passkeys/:id/rename': changesCredentials,
  '/settings/security/passkeys/options': changesCredentials,
  '/settings/security/password': changesCredentials,
  '/settings/security/password-link': changesCredentials,
  '/settings/security/providers/:provider/link': changesCredentials,
  '/settings/security/providers/:provider/unlink': changesCredentials,
  '/settings/security/sessions/:id/end': ofSession,
  '/settings/security/sessions/end-others': ofSession,
  '/settings/security/two-step/begin': changesCredentials,
  '/settings/security/two-step/confirm': changesCredentials,
  '/settings/security/two-step/recovery-codes': changesCredentials,
  '/settings/security/two-step/remove': changesCredentials,
  '/settings/theme': ofBrowser,
  '/w/:slug/agents/:id/allow-again': isConsent,
  '/w/:slug/agents/:id/asking': isConsent,
  '/w/:slug/agents/:id/prolong': isConsent,
  '/w/:slug/agents/:id/scopes': isConsent,
  '/w/:slug/first-steps': ofBrowser,
  '/w/:slug/settings/allow': isConsent,
  '/w/:slug/settings/service-accounts/:id/clients/prolong': isConsent,
}

const entries = [operationOfForm, pending, exceptions].flatMap((table) => Object.keys(table))

describe('every form of the website', () => {
  it('has an operation of the API that does the same, or is an exception', () => {
    expect(forms.length).toBeGreaterThan(40)
    expect(forms.filter((form) => !entries.includes(form))).toEqual([])
  })

  it('is listed once, and only while it exists', () => {
    expect(entries.filter((form) => !forms.includes(form))).toEqual([])
    expect(entries.filter((form, i) => entries.indexOf(form) !== i)).toEqual([])
  })

  it('names an operation that exists, unless it is pending', () => {
    expect(Object.values(operationOfForm).filter((id) => !operationIds.includes(id))).toEqual([])
    expect(Object.values(pending).filter((id) => operationIds.includes(id))).toEqual([])
  })
})
