import type { FastifyReply, FastifyRequest } from 'fastify'
import { isAllowed, type WorkspaceAction } from '../access/permissions.ts'
import type { WorkspaceDetail, WorkspacesService } from '../areas/workspaces/workspaces.service.ts'
import type { App } from '../http/app-types.ts'
import type { Principal } from '../kernel/principal.ts'
import { attempt, emptyForm, form, valuesOf, type FormState } from './forms.ts'
import type { Section } from './layout.ts'
import type { Page } from './pages.ts'

interface WorkspaceRoute {
  Params: { slug: string; id: string; userId: string }
  Querystring: { cursor?: string; done?: string; slug?: string }
}

/** A member's request for a page of a workspace. */
export interface WorkspaceVisit {
  request: FastifyRequest<WorkspaceRoute>
  principal: Principal
  workspace: WorkspaceDetail
  /** The submitted form, if it had an error. */
  state: FormState
  /** The path of the workspace's pages. */
  base: string
  may: (action: WorkspaceAction) => boolean
  /** Sets a cookie, as `FastifyReply.remember` does. */
  remember: (name: string, value: string, maxAgeSeconds: number) => void
}

/** Registers pages of workspaces. */
export interface WorkspacePages {
  /** A page. `path` is relative to the workspace's. */
  page: (path: string, show: (visit: WorkspaceVisit) => Promise<Page>) => void
  /**
   * A form. `run` returns a path to redirect to, or a page with a secret that is shown once. If it throws an error that
   * the person can correct, `show` renders the form again.
   */
  action: (
    path: string,
    show: (visit: WorkspaceVisit) => Promise<Page>,
    run: (visit: WorkspaceVisit) => Promise<string | Page>,
  ) => void
  /** JSON for public/site.js. */
  data: (path: string, find: (visit: WorkspaceVisit) => Promise<object>) => void
}

/** Registers upload forms of workspaces, in a scope with `uploadForm`. */
export interface UploadPages {
  upload: WorkspacePages['action']
}

/** Pages for members. Others get `not_a_member`, or `not_found` if there is no such workspace. */
export function createWorkspacePages(app: App, workspaces: WorkspacesService): WorkspacePages {
  const enter = (request: FastifyRequest<WorkspaceRoute>, reply: FastifyReply) =>
    enterWorkspace(request, reply, workspaces)
  return {
    page(path, show) {
      app.get<WorkspaceRoute>(`/w/:slug${path}`, async (request, reply) => {
        const visit = await enter(request, reply)
        const { slug } = visit.workspace
        // A former slug redirects to the current one.
        if (slug !== request.params.slug)
          return reply.redirect(request.url.replace(`/w/${request.params.slug}`, `/w/${slug}`), 302)
        return reply.showPage(await show(visit))
      })
    },

    action(path, show, run) {
      app.post<WorkspaceRoute>(`/w/:slug${path}`, form, async (request, reply) =>
        answer(reply, await enter(request, reply), show, run),
      )
    },

    data(path, find) {
      app.get<WorkspaceRoute>(`/w/:slug${path}`, async (request, reply) => find(await enter(request, reply)))
    },
  }
}

/** Upload forms for members. */
export function createUploadPages(app: App, workspaces: WorkspacesService): UploadPages {
  return {
    upload(path, show, run) {
      app.post<WorkspaceRoute>(`/w/:slug${path}`, async (request, reply) =>
        answer(reply, await enterWorkspace(request, reply, workspaces), show, run),
      )
    },
  }
}

async function enterWorkspace(
  request: FastifyRequest<WorkspaceRoute>,
  reply: FastifyReply,
  workspaces: WorkspacesService,
): Promise<WorkspaceVisit> {
  const workspace = await workspaces.get(request.principal, request.params.slug)
  return {
    request,
    principal: request.principal,
    workspace,
    state: emptyForm,
    base: `/w/${workspace.slug}`,
    may: (action) => isAllowed(workspace.role, action),
    remember: (name, value, maxAgeSeconds) => void reply.remember(name, value, maxAgeSeconds),
  }
}

/** Runs the action of a form and answers, as `WorkspacePages.action` describes. */
export async function answer<Visit extends { request: FastifyRequest; state: FormState }>(
  reply: FastifyReply,
  visit: Visit,
  show: (visit: Visit) => Promise<Page>,
  run: (visit: Visit) => Promise<string | Page>,
): Promise<FastifyReply> {
  const { result, error } = await attempt(() => run(visit))
  if (error) {
    const page = await show({ ...visit, state: { values: valuesOf(visit.request), error } })
    return reply.showPage({ ...page, title: `Error: ${page.title}`, error })
  }
  return typeof result === 'string' ? reply.redirect(result, 303) : reply.showPage(result)
}

/** The navigation of a workspace. */
export function sectionOf({ workspace, base, may }: WorkspaceVisit, current: string): Section {
  const links = [
    ['Overview', base],
    ['Seeds', `${base}/seeds`],
    ['People', `${base}/people`],
    ['Activity', `${base}/activity`],
    ['Members', `${base}/members`],
    ...(may('invites.list') ? [['Invites', `${base}/invites`] as const] : []),
    ['Teams', `${base}/teams`],
    ['Agents', `${base}/agents`],
    ...(may('workspaces.update') ? [['Settings', `${base}/settings`] as const] : []),
  ] as const
  return {
    name: workspace.name,
    iconUrl: workspace.iconUrl,
    links: links.map(([label, href]) => ({ label, href, isCurrent: label === current })),
  }
}
