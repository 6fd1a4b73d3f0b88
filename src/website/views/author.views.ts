import { html, type Content, type Html } from '../components/html.ts'
import { renderAgentFace, renderFace } from '../components/layout.ts'

/** An agent, with the mark of agents, and a link to its page if the path is given. Without a name, the mark alone. */
export function renderAgent(name: string | undefined, path?: string): Html {
  const shown = html`<bdi>${name}</bdi>`
  return html`<span class="tag agent">Agent</span> ${
      name !== undefined && (path === undefined ? shown : html`<a href="${path}">${shown}</a>`)
    }`
}

/** Who wrote something: a person, or an agent for that person. The name is null if the account is deleted. */
export function renderAuthor(name: string | null, agentName: string | null): Content {
  const person = name !== null && html`<bdi>${name}</bdi>`
  if (agentName === null) return person
  return html`${renderAgent(agentName)}${person && html` for ${person}`}`
}

interface Authored {
  authorUserId: string | null
  authorName: string
  agentName: string | null
  authorPicture: string | null
}

/** The face of who did something: of the agent, if one did it for the person. */
export function renderActorFace(
  person: { id: string | null; name: string; image: string | null },
  agentName: string | null,
): Html {
  return agentName === null ? renderFace(person, 28) : renderAgentFace(agentName)
}

/** Who wrote something in a thread, with the face of the person or the agent, and when. */
export function renderByline(
  { authorUserId, authorName, agentName, authorPicture }: Authored,
  about: Content,
): Html {
  return html`<p class="hint byline">
    ${renderActorFace({ id: authorUserId, name: authorName, image: authorPicture }, agentName)}
    <span>${renderAuthor(authorName, agentName)}${about}</span>
  </p>`
}
