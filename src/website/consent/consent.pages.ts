import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ConsentRequest } from '../../agent-oauth/consents.ts'
import { paths } from '../../agent-oauth/protocol.ts'
import type { App } from '../../http/app-types.ts'
import { grantDays, grantDaysDefault } from '../../kernel/agent.ts'
import { errors } from '../../kernel/errors.ts'
import { parseJson } from '../../kernel/json-text.ts'
import type { Services } from '../../services/services.ts'
import { renderConsent } from './consent.views.ts'
import { form, readFields, valuesOf } from '../components/sent-form.ts'
import { forgetConsent, rememberConsent } from '../plugins/pending-consent.ts'
import { readScopes } from '../views/scopes.views.ts'
import { assertSignedIn, confirmPathTo } from '../plugins/web-session.ts'

interface WithUid {
  Params: { uid: string }
}

const url = `${paths.consent}/:uid`
const urlOf = ({ params }: FastifyRequest<WithUid>) => `${paths.consent}/${encodeURIComponent(params.uid)}`

/**
 * The page on which a person allows or denies an agent's request. Allowing requires a recent proof, after which the page
 * is shown again as it was filled in. Denying requires no sign-in.
 */
export function consentPages(
  app: App,
  { agentOAuth, entry, workspaces }: Pick<Services, 'agentOAuth' | 'entry' | 'workspaces'>,
): void {
  /** The pending request of this browser. Throws `consent_expired`, also for the request of another browser. */
  async function requireConsentRequest(
    request: FastifyRequest<WithUid>,
    reply: FastifyReply,
  ): Promise<ConsentRequest> {
    const consent = await agentOAuth.findConsentRequest(request.raw, reply.raw)
    if (consent?.uid === request.params.uid) return consent
    forgetConsent(reply)
    throw errors.consentExpired()
  }

  app.get<WithUid>(url, async (request, reply) => {
    const consent = await requireConsentRequest(request, reply)
    if (consent.isDecided) throw errors.consentExpired()
    rememberConsent(reply, consent.uid)
    assertSignedIn(request)
    const choices = parseJson(await workspaces.list(request.principal))
    return reply
      .header('referrer-policy', 'no-referrer')
      .showPage(renderConsent({ request, consent, choices, canCreate: entry.hasWorkspaceCreation }))
  })

  app.post<WithUid>(url, form, async (request, reply) => {
    const { isDecided } = await requireConsentRequest(request, reply)
    const { decision, workspaceId, days } = readFields(request, 'decision', 'workspaceId', 'days')
    const exchange = { request: request.raw, response: reply.raw }
    let next: string
    if (decision === 'allow') {
      assertSignedIn(request)
      // An agent acts for the person for months, so allowing one is proven as a new API key is (decision 0096).
      if (!request.visit.isProven && !isDecided) {
        const kept = await reply.keepFlash(urlOf(request), { state: { values: valuesOf(request) } })
        return reply.redirect(confirmPathTo(kept), 303)
      }
      next = await agentOAuth.allow(exchange, request.principal, {
        workspaceId,
        scopes: readScopes(request),
        days: grantDays.find((choice) => String(choice) === days) ?? grantDaysDefault,
      })
    } else {
      // Any other value denies.
      next = await agentOAuth.deny(exchange)
    }
    // The page stays until the agent answers, so people may click again: they continue to the same answer.
    return forgetConsent(reply).redirect(next, 303)
  })
}
