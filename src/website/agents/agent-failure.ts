import type { FastifyReply } from 'fastify'
import type { Failure } from '../../agents/oauth/agent-oauth.ts'
import { html, type Html } from '../components/html.ts'

/** Shows why an agent's request for access failed, and what to do. */
export function showFailure(reply: FastifyReply, failure: Failure): FastifyReply {
  const { status, error } = failure
  const { title, body } = explain(failure)
  return reply.showPage({
    title,
    status,
    body: html`<section class="narrow">
      <h1>${title}</h1>
      ${body}
      <p>No access was given. You can close this page and start again in the agent.</p>
      <p><a class="button" href="/">Go to the home page</a></p>
      <p class="hint">Error code: <code>${toPlain(error)}</code></p>
    </section>`,
  })
}

function explain({ error, description, document }: Failure): { title: string; body: Html } {
  const host = document?.host
  if (document?.problem === 'unreachable')
    return {
      title: `${host} could not be reached from this server`,
      body: html`<p>
        The agent says who it is by a document at ${host}, and this server could not read it. Try again later.
        If it stays so, ask the operator of this server, whose log has the reason.
      </p>`,
    }
  if (document?.problem === 'off')
    return {
      title: 'This server does not read documents of agents',
      body: html`<p>
        The agent says who it is by a document at ${host}. Agents have to register here instead. Remove the
        connection in the agent and add it again, so that it registers.
      </p>`,
    }
  if (error === 'invalid_client')
    return {
      title: 'This agent is not registered',
      body: html`<p>
        The registration of the agent is unknown. Unused registrations are deleted after a while. Remove the
        connection in the agent and add it again, so that it registers again.
      </p>`,
    }
  return { title: 'The request for access failed', body: html`<p>${toPlain(description)}</p>` }
}

/** Without characters that could make a text of the request pass for one of ours. */
function toPlain(text: string): string {
  return text.replace(/[^\w .,:'()-]/g, '')
}
