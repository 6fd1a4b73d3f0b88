import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ConsentRequest } from '../../agents/oauth/consents.ts'
import { paths } from '../../agents/oauth/protocol.ts'
import type { App } from '../../http/app-types.ts'
import { grantDays, grantDaysDefault } from '../../domain/agent.ts'
import { errors } from '../../kernel/errors.ts'
import { parseJson } from '../../kernel/json-text.ts'
import type { Services } from '../../services/services.ts'
import { asNow, findTicked, isToBeSeenFirst, type Offer } from './consent-choice.ts'
import { renderConsent } from './consent.views.ts'
import { readQuery } from '../components/lists.ts'
import { form, readFields, valuesOf } from '../components/sent-form.ts'
import { forgetConsent, rememberConsent } from '../plugins/pending-consent.ts'
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
  {
    agentOAuth,
    entry,
    scopesOfRole,
    workspaces,
  }: Pick<Services, 'agentOAuth' | 'entry' | 'scopesOfRole' | 'workspaces'>,
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

  /** What can be given, and in which of the person's workspaces: the one of the form or the query, or where the agent is. */
  async function readOffer(
    request: FastifyRequest,
    { clientId, scopes }: ConsentRequest,
    values: Readonly<Record<string, string>> = request.flash.state.values,
  ): Promise<Offer | undefined> {
    const choices = parseJson(await workspaces.list(request.principal))
    const access = await agentOAuth.listAccess(request.principal, clientId)
    const ids = [
      values.workspaceId,
      readQuery(request, 'workspaceId'),
      ...access.map((each) => each.workspaceId),
    ]
    const wanted = ids.find((id) => choices.some((choice) => choice.id === id))
    const workspace = choices.find(({ id }) => id === wanted) ?? choices[0]
    if (!workspace) return undefined
    const current = access.find(({ workspaceId }) => workspaceId === workspace.id)
    return { choices, workspace, current, asked: scopes, offered: scopesOfRole(workspace.role) }
  }

  app.get<WithUid>(url, async (request, reply) => {
    const consent = await requireConsentRequest(request, reply)
    if (consent.isDecided) throw errors.consentExpired()
    rememberConsent(reply, consent.uid)
    assertSignedIn(request)
    const offer = await readOffer(request, consent)
    return reply
      .header('referrer-policy', 'no-referrer')
      .showPage(renderConsent({ request, consent, offer, canCreate: entry.hasWorkspaceCreation }))
  })

  app.post<WithUid>(url, form, async (request, reply) => {
    const consent = await requireConsentRequest(request, reply)
    const { isDecided } = consent
    const { decision, workspaceId, days } = readFields(request, 'decision', 'workspaceId', 'days')
    const exchange = { request: request.raw, response: reply.raw }
    let next: string
    if (decision === 'allow') {
      assertSignedIn(request)
      const values = valuesOf(request)
      const offer = await readOffer(request, consent, values)
      if (!isDecided) {
        const keep = () => reply.keepFlash(urlOf(request), { state: { values } })
        // An agent acts for the person for months, so allowing one is proven as a new API key is
        // (docs/design/sessions.md#proofs).
        if (!request.visit.isProven) return reply.redirect(confirmPathTo(await keep()), 303)
        if (isToBeSeenFirst(offer, values)) return reply.redirect(await keep(), 303)
      }
      next = await agentOAuth.allow(exchange, request.principal, {
        workspaceId,
        ...(offer ? findTicked(offer, values) : { scopes: [] }),
        days:
          days === asNow ? null : (grantDays.find((choice) => String(choice) === days) ?? grantDaysDefault),
      })
    } else {
      // Any other value denies.
      next = await agentOAuth.deny(exchange)
    }
    // The page stays until the agent answers, so people may click again: they continue to the same answer.
    return forgetConsent(reply).redirect(next, 303)
  })
}
