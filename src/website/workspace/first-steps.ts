import type { FastifyRequest } from 'fastify'
import type { WorkspaceEvent } from '../../areas/events/events.service.ts'
import { renderForm } from '../components/forms.ts'
import { html, type Content, type Html } from '../components/html.ts'
import type { WorkspaceVisit } from '../plugins/workspace-visit.ts'

/** The types of what has happened in a workspace. */
export type HappenedTypes = ReadonlySet<WorkspaceEvent['type']>

interface Step {
  label: string
  href: string
  /** The events that show that it is done. */
  types: WorkspaceEvent['type'][]
}

const cookie = 'no-first-steps'
const cookieSeconds = 365 * 24 * 60 * 60
// A cookie has up to 4 KB.
const rememberedMax = 20

/** Whether the person has dismissed the first steps of a workspace in this browser. */
export function isDismissed(request: FastifyRequest, workspaceId: string): boolean {
  return readDismissed(request).includes(workspaceId)
}

/** Remembers in a cookie that the person has dismissed the first steps of the workspace. */
export function addDismissed({ request, remember, workspace }: WorkspaceVisit): void {
  const ids = [...readDismissed(request), workspace.workspaceId]
  remember(cookie, ids.slice(-rememberedMax).join('.'), cookieSeconds)
}

function readDismissed({ visit }: FastifyRequest): string[] {
  return visit.recall(cookie)?.split('.') ?? []
}

/** The first steps in a new workspace; nothing when all are done. */
export function renderFirstSteps({ base, request }: WorkspaceVisit, happened: HappenedTypes): Content {
  const steps = stepsOf(base).map((step) => ({
    ...step,
    isDone: step.types.some((type) => happened.has(type)),
  }))
  if (steps.every(({ isDone }) => isDone)) return false
  return html`<section class="card" aria-labelledby="first-steps">
    <div class="head">
      <h2 id="first-steps">First steps</h2>
      ${renderForm({
        request,
        action: `${base}/first-steps`,
        className: 'inline',
        body: html`<button class="link hint">Hide</button>`,
      })}
    </div>
    <ol class="checklist">
      ${steps.map(renderStep)}
    </ol>
  </section>`
}

function renderStep({ label, href, isDone }: Step & { isDone: boolean }): Html {
  return isDone
    ? html`<li class="done">
        <span aria-hidden="true">✓</span><span>${label}<span class="visually-hidden"> (done)</span></span>
      </li>`
    : html`<li><span aria-hidden="true">○</span><a href="${href}">${label}</a></li>`
}

function stepsOf(base: string): Step[] {
  return [
    {
      label: 'Invite someone',
      href: `${base}/invites`,
      types: ['invite.created', 'invite.accepted', 'member.joined'],
    },
    { label: 'Create a seed', href: `${base}/seeds/new`, types: ['seed.created'] },
    { label: 'Join a seed and add evidence', href: `${base}/seeds`, types: ['evidence.added'] },
    { label: 'Connect an agent', href: `${base}/agents`, types: ['integration.granted'] },
  ]
}
