import type { FastifyReply, FastifyRequest } from 'fastify'
import { consentLifetimeSeconds, paths } from '../../agents/oauth/protocol.ts'
import { renderForm } from '../components/forms.ts'
import { html, type Html } from '../components/html.ts'

// The request of an agent that the person was led away from, to sign in, to sign up or to create a workspace.
const cookieName = 'consent'

/** The path of the consent page that this browser has to come back to; undefined if there is none. */
export function findPendingConsent({ visit }: FastifyRequest): string | undefined {
  // Pages without a session have no visit.
  const uid = (visit as typeof visit | null | undefined)?.recall(cookieName)
  return uid !== undefined && /^[\w-]{1,64}$/.test(uid) ? `${paths.consent}/${uid}` : undefined
}

export function rememberConsent(reply: FastifyReply, uid: string): FastifyReply {
  return reply.remember(cookieName, uid, consentLifetimeSeconds)
}

export function forgetConsent(reply: FastifyReply): FastifyReply {
  return reply.remember(cookieName, undefined)
}

/** Says on pages that lead to a decision that one is waited for, and offers to deny. `path` is that of the consent page. */
export function renderPendingConsent(request: FastifyRequest, path: string): Html {
  return html`<aside class="narrow notice" aria-label="Request for access">
    <p>
      An agent is waiting for access to a workspace of yours. You can <a href="${path}">continue</a> or deny
      it.
    </p>
    ${renderForm({
      request,
      action: path,
      className: 'inline',
      body: html`<button class="small" name="decision" value="deny">Deny</button>`,
    })}
  </aside>`
}
