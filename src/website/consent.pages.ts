import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ConsentRequest } from '../agent-oauth/agent-oauth.ts'
import type { App } from '../http/app-types.ts'
import { errors } from '../kernel/errors.ts'
import type { Services } from '../services.ts'
import { renderConsent } from './consent.views.ts'
import { form, readFields } from './forms.ts'

interface WithUid {
  Params: { uid: string }
}

const url = '/agent/oauth/consent/:uid'

/** Where a person allows an agent, or does not. Only for people who are signed in, which the scope sees to. */
export function consentPages(
  app: App,
  { agentOAuth, workspaces }: Pick<Services, 'agentOAuth' | 'workspaces'>,
): void {
  /** What this browser was sent here for. Another browser's request is none of its business. */
  async function requireConsentRequest(
    request: FastifyRequest<WithUid>,
    reply: FastifyReply,
  ): Promise<ConsentRequest> {
    const consent = await agentOAuth.findConsentRequest(request.raw, reply.raw)
    if (consent?.uid !== request.params.uid) throw errors.consentExpired()
    return consent
  }

  app.get<WithUid>(url, async (request, reply) => {
    const consent = await requireConsentRequest(request, reply)
    const choices = await workspaces.list(request.principal)
    return reply
      .header('referrer-policy', 'no-referrer')
      .showPage(renderConsent({ request, consent, choices }))
  })

  app.post<WithUid>(url, form, async (request, reply) => {
    await requireConsentRequest(request, reply)
    const { decision, workspaceId } = readFields(request, 'decision', 'workspaceId')
    const exchange = { request: request.raw, response: reply.raw }
    // Only the one button allows: whatever else comes is a no.
    const next =
      decision === 'allow'
        ? await agentOAuth.allow(exchange, request.principal, workspaceId)
        : await agentOAuth.deny(exchange)
    return reply.redirect(next, 303)
  })
}
