import type { FastifyRequest } from 'fastify'
import type { WorkspaceAction } from '../../access/permissions.ts'
import type { EventType } from '../../areas/events/events.service.ts'
import type { CallerActivity } from '../../areas/workspaces/caller-activity.service.ts'
import { renderForm } from '../components/forms.ts'
import { html, type Content, type Html } from '../components/html.ts'
import type { WorkspaceVisit } from '../plugins/workspace-visit.ts'
import { whatIsSeed } from '../seeds/seed-words.ts'

/** What a person has done themselves: the types of their events, and whether they follow a seed. */
export type DoneSteps = Pick<CallerActivity, 'doneTypes' | 'follows'>

interface Step {
  label: string
  /** The path in the workspace. */
  href: string
  /** Whether it is done on the page of a seed, so that the link leads to one. */
  isOnSeed?: boolean
  /** What the person must be allowed to do. */
  action: WorkspaceAction
  /** The event that shows that it is done; without one, that the person follows a seed does. */
  type?: EventType
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

/**
 * The first steps of a new member, as far as their role allows them; nothing when all are done. `seedId` is that of a seed
 * to try them on, if there is one.
 */
export function renderFirstSteps(
  { base, may, request }: WorkspaceVisit,
  { done, seedId }: { done: DoneSteps; seedId: string | undefined },
): Content {
  const steps = allSteps
    .filter(({ action }) => may(action))
    // Who adds evidence and comments follows seeds without asking for it.
    .filter(({ type }) => type !== undefined || !may('seeds.join'))
    .map(({ label, href, isOnSeed, type }) => ({
      label,
      href: base + (isOnSeed ? `/seeds${seedId === undefined ? '' : `/${seedId}${href}`}` : href),
      isDone: type === undefined ? done.follows : done.doneTypes.has(type),
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
    <p class="hint">${whatIsSeed} <a href="/help">More</a></p>
    <ol class="checklist">
      ${steps.map(renderStep)}
    </ol>
  </section>`
}

function renderStep({ label, href, isDone }: { label: string; href: string; isDone: boolean }): Html {
  return isDone
    ? html`<li class="done">
        <span aria-hidden="true">✓</span><span>${label}<span class="visually-hidden"> (done)</span></span>
      </li>`
    : html`<li><span aria-hidden="true">○</span><a href="${href}">${label}</a></li>`
}

const allSteps: Step[] = [
  { label: 'Invite someone', href: '/invites', action: 'invites.create', type: 'invite.created' },
  { label: 'Create a seed', href: '/seeds/new', action: 'seeds.create', type: 'seed.created' },
  {
    label: 'Join a seed and add evidence',
    href: '#thread',
    isOnSeed: true,
    action: 'seeds.addEvidence',
    type: 'evidence.added',
  },
  { label: 'Follow a seed', href: '', isOnSeed: true, action: 'seeds.follow' },
  {
    label: 'Comment on a seed',
    href: '#thread',
    isOnSeed: true,
    action: 'comments.create',
    type: 'comment.added',
  },
  { label: 'Connect an agent', href: '/agents', action: 'integrations.grant', type: 'integration.granted' },
]

/** The types of events that show that first steps are done. */
export const stepTypes = allSteps.flatMap(({ type }) => type ?? [])
