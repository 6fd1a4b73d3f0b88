import type { FastifyReply } from 'fastify'
import type { Failure } from '../../agent-oauth/agent-oauth.ts'
import { html, type Html } from '../components/html.ts'

/** Shows why an agent's request for access failed, and what to do. */
export function showFailure(reply: FastifyReply, failure: Failure): FastifyReply {
  const { status, error, description } = failure
  const isUnknown = error === 'invalid_client'
  const title = isUnknown ? 'This agent is not registered' : 'The request for access failed'
  return reply.showPage({
    title,
    status,
    body: html`<section class="narrow">
      <h1>${title}</h1>
      ${isUnknown ? renderUnknown() : html`<p>${toPlain(description)}</p>`}
      <p>No access was given. You can close this page and start again in the agent.</p>
      <p><a class="button" href="/">Go to the home page</a></p>
      <p class="hint">Error code: <code>${toPlain(error)}</code></p>
    </section>`,
  })
}

function renderUnknown(): Html {
  return html`<p>
    The registration of the agent is unknown. Unused registrations are deleted after a while. Remove the
    connection in the agent and add it again, so that it registers again.
  </p>`
}

/** Without characters that could make a text of the request pass for one of ours. */
function toPlain(text: string): string {
  return text.replace(/[^\w .,:'()-]/g, '')
}
