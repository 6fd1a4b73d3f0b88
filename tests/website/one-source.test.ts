import { describe, expect, it } from 'vitest'
import { createDescriptionReader } from '../../scripts/description.ts'
import { formsIn, noteRoutes } from '../support/note-routes.ts'
import { startTestApp } from '../support/test-app.ts'

const { started: website, routes } = await noteRoutes(() =>
  startTestApp({ environment: { SIGN_IN_LIMIT_PER_MINUTE: '0' } }),
)
const forms = formsIn(routes)
const operationIds = createDescriptionReader(website.app.swagger()).operations.map(
  ({ operationId }) => operationId,
)

/** Each form of the website, and the operation of the API that does the same. */
const operationOfForm: Record<string, string> = {
  '/invites/:token': 'invites.accept',
  '/invites/:token/decline': 'invites.decline',
  // Opening one marks it read.
  '/notifications/:id/open': 'notifications.markRead',
  '/notifications/read': 'notifications.markRead',
  '/onboarding': 'workspaces.create',
  '/onboarding/invites/:id/accept': 'me.acceptInvite',
  '/onboarding/invites/:id/decline': 'me.declineInvite',
  '/onboarding/offers/:id/join': 'me.acceptOffer',
  '/onboarding/offers/:id/decline': 'me.declineOffer',
  '/settings/notifications': 'me.updatePreferences',
  '/settings/profile': 'me.updateProfile',
  '/settings/profile/photo': 'me.uploadPhoto',
  '/settings/profile/photo/remove': 'me.removePhoto',
  '/settings/security/leaving/delete': 'me.delete',
  '/settings/security/api-keys': 'apiKeys.createRestricted',
  '/settings/security/api-keys/:id/restrict': 'apiKeys.restrict',
  '/settings/security/api-keys/:id/revoke': 'apiKeys.revoke',
  '/settings/security/api-keys/:id/rotate': 'apiKeys.rotate',
  '/w/:slug/agents/:id/revoke': 'integrations.revoke',
  // Once for each address.
  '/w/:slug/invites': 'invites.create',
  '/w/:slug/comments/:id/delete': 'comments.delete',
  '/w/:slug/comments/:id/edit': 'comments.update',
  '/w/:slug/invites/:id/resend': 'invites.resend',
  '/w/:slug/invites/:id/revoke': 'invites.revoke',
  '/w/:slug/invites/:id/role': 'invites.updateRole',
  '/w/:slug/members/:userId/remove': 'members.remove',
  '/w/:slug/members/:userId/role': 'members.updateRole',
  '/w/:slug/members/:userId/transfer': 'workspaces.transferOwnership',
  '/w/:slug/seeds/:id/comments': 'comments.create',
  '/w/:slug/seeds/:id/delete': 'seeds.delete',
  '/w/:slug/seeds/:id/edit': 'seeds.update',
  '/w/:slug/seeds/:id/evidence': 'seeds.addEvidence',
  '/w/:slug/seeds/:id/evidence/:evidenceId/edit': 'evidence.update',
  '/w/:slug/seeds/:id/evidence/:evidenceId/withdraw': 'evidence.withdraw',
  '/w/:slug/seeds/:id/follow': 'seeds.follow',
  '/w/:slug/seeds/:id/join': 'seeds.join',
  '/w/:slug/seeds/:id/lead': 'seeds.update',
  '/w/:slug/seeds/:id/leave': 'seeds.leave',
  '/w/:slug/seeds/:id/move': 'seeds.update',
  '/w/:slug/seeds/:id/restore': 'seeds.restore',
  '/w/:slug/seeds/:id/status': 'seeds.update',
  '/w/:slug/seeds/:id/unfollow': 'seeds.unfollow',
  '/w/:slug/seeds/new': 'seeds.create',
  '/w/:slug/settings': 'workspaces.update',
  '/w/:slug/settings/delete': 'workspaces.delete',
  '/w/:slug/settings/icon': 'workspaces.uploadIcon',
  '/w/:slug/settings/icon/remove': 'workspaces.removeIcon',
  '/w/:slug/settings/webhooks': 'webhooks.create',
  '/w/:slug/settings/webhooks/:id': 'webhooks.update',
  '/w/:slug/settings/webhooks/:id/delete': 'webhooks.delete',
  '/w/:slug/settings/webhooks/:id/redeliver': 'webhooks.redeliver',
  '/w/:slug/settings/webhooks/:id/redeliver-since': 'webhooks.redeliverSince',
  '/w/:slug/settings/webhooks/:id/rotate-secret': 'webhooks.rotateSecret',
  '/w/:slug/settings/webhooks/:id/status': 'webhooks.update',
  '/w/:slug/settings/webhooks/:id/test': 'webhooks.test',
  '/w/:slug/teams': 'teams.create',
  '/w/:slug/teams/:id/delete': 'teams.delete',
  '/w/:slug/teams/:id/members': 'teams.addMember',
  '/w/:slug/teams/:id/members/:userId/remove': 'teams.removeMember',
  '/w/:slug/teams/:id/rename': 'teams.rename',
  // Opening a seed from the home marks what is new in it as read.
  '/w/:slug/waiting/:id': 'notifications.markRead',
}

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
  '/w/:slug/agents/:id/scopes': isConsent,
  '/w/:slug/first-steps': ofBrowser,
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
