import type { FastifyReply, FastifyRequest } from 'fastify'
import type { InvitedPerson } from '../../accounts/invited-sign-up.service.ts'
import type { App } from '../../http/app-types.ts'
import type { Services } from '../../services/services.ts'
import { describeJoined } from '../views/joined.views.ts'
import { readPasskeyAnswer, sendChallenge } from '../views/passkey-form.views.ts'
import { findPendingConsent } from '../plugins/pending-consent.ts'
import { answerForm } from '../plugins/answer-form.ts'
import { attempt, form, readField } from '../components/sent-form.ts'
import { browserOf, finishSignIn } from './continue-sign-in.ts'
import { invitePath, renderInviteForVisitor, renderInvitePage } from './invite.views.ts'

interface WithToken {
  Params: { token: string }
}

/** The page that the link of an invite opens, where it is accepted. A mailed link also signs up. */
export function invitePages(
  app: App,
  services: Pick<Services, 'entry' | 'identityProviders' | 'invitedSignUp' | 'receivedInvites' | 'sessions'>,
): void {
  const { entry, identityProviders: providers, invitedSignUp, receivedInvites, sessions } = services

  app.get<WithToken>('/invites/:token', async (request, reply) => {
    const { token } = request.params
    if (request.visit.sessionId !== undefined) {
      const invite = await receivedInvites.preview(request.principal, token)
      return reply.showPage(renderInvitePage({ request, invite, token }))
    }
    const invite = await receivedInvites.preview(undefined, token)
    const canSignUp = await invitedSignUp.isOpen(token)
    return reply.showPage(renderInviteForVisitor({ request, invite, token, canSignUp, providers, entry }))
  })

  app.post<WithToken>('/invites/:token', form, async (request, reply) => {
    const { token } = request.params
    const back = invitePath(token)
    if (request.visit.sessionId === undefined) return reply.redirect(back, 303)
    return answerForm(request, reply, back, async () => {
      const accepted = await receivedInvites.accept(request.principal, token)
      return findPendingConsent(request) ?? { path: `/w/${accepted.slug}`, notice: describeJoined(accepted) }
    })
  })

  app.post<WithToken>('/invites/:token/decline', form, async (request, reply) => {
    const { token } = request.params
    const back = invitePath(token)
    if (request.visit.sessionId === undefined) return reply.redirect(back, 303)
    return answerForm(request, reply, back, async () => {
      await receivedInvites.decline(request.principal, token)
      return back
    })
  })

  app.post<WithToken>('/invites/:token/sign-up', form, async (request, reply) =>
    signUp(request, reply, { name: readField(request, 'name'), password: readField(request, 'password') }),
  )

  app.post<WithToken>('/invites/:token/passkey/options', form, async (request, reply) =>
    sendChallenge(reply, await invitedSignUp.beginPasskey(request.params.token)),
  )

  app.post<WithToken>('/invites/:token/passkey', form, async (request, reply) =>
    signUp(request, reply, { name: readField(request, 'name'), passkey: readPasskeyAnswer(request) }),
  )

  app.post<WithToken>('/invites/:token/switch', form, async (request, reply) => {
    const { sessionToken } = request.visit
    if (sessionToken !== undefined) await sessions.endByToken(sessionToken)
    return reply.signOut().redirect(invitePath(request.params.token), 303)
  })

  async function signUp(
    request: FastifyRequest<WithToken>,
    reply: FastifyReply,
    person: InvitedPerson,
  ): Promise<FastifyReply> {
    const { token } = request.params
    const { result, error } = await attempt(() => invitedSignUp.signUp(token, person, browserOf(request)))
    if (error) return reply.refuse(invitePath(token), error)
    const { accepted, sessionToken } = result
    return finishSignIn(reply, result, findPendingConsent(request) ?? (await welcome()))

    /** The home of the workspace, with what the new session is told there. */
    async function welcome(): Promise<string> {
      const home = `/w/${accepted.slug}`
      const session = await sessions.find(sessionToken)
      if (!session) return home
      const { sessionId } = session
      return reply.keepFlash(home, { notice: describeJoined(accepted) }, { sessionId, secret: sessionToken })
    }
  }
}
