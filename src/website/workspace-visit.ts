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

/** Somebody who looks at a workspace that they are in. */
export interface WorkspaceVisit {
  request: FastifyRequest<WorkspaceRoute>
  principal: Principal
  workspace: WorkspaceDetail
  /** The form that was sent, if one was and could not be taken. */
  state: FormState
  /** The path of the workspace's pages. */
  base: string
  may: (action: WorkspaceAction) => boolean
}

/** How pages of workspaces are made. */
export interface WorkspacePages {
  /** A page below the workspace's path. */
  page: (path: string, show: (visit: WorkspaceVisit) => Promise<Page>) => void
  /**
   * A form. What it leads to is a path to go to, or a page to show, which is for what can be seen only once. What the
   * person can mend is shown by `show`, with the form as it was.
   */
  action: (
    path: string,
    show: (visit: WorkspaceVisit) => Promise<Page>,
    run: (visit: WorkspaceVisit) => Promise<string | Page>,
  ) => void
  /** What the script asks for. */
  data: (path: string, find: (visit: WorkspaceVisit) => Promise<object>) => void
}

/** How forms of workspaces that hold a file are taken; in a scope of forms with files. */
export interface UploadPages {
  upload: WorkspacePages['action']
}

/** Makes pages for those who are in a workspace; others learn what the services tell them. */
export function createWorkspacePages(app: App, workspaces: WorkspacesService): WorkspacePages {
  const enter = (request: FastifyRequest<WorkspaceRoute>) => enterWorkspace(request, workspaces)
  return {
    page(path, show) {
      app.get<WorkspaceRoute>(`/w/:slug${path}`, async (request, reply) => {
        const visit = await enter(request)
        const { slug } = visit.workspace
        // A former slug: the address in the browser becomes the present one.
        if (slug !== request.params.slug)
          return reply.redirect(request.url.replace(`/w/${request.params.slug}`, `/w/${slug}`), 302)
        return reply.showPage(await show(visit))
      })
    },

    action(path, show, run) {
      app.post<WorkspaceRoute>(`/w/:slug${path}`, form, async (request, reply) =>
        answer(reply, await enter(request), show, run),
      )
    },

    data(path, find) {
      app.get<WorkspaceRoute>(`/w/:slug${path}`, async (request) => find(await enter(request)))
    },
  }
}

/** Takes forms that hold a file. */
export function createUploadPages(app: App, workspaces: WorkspacesService): UploadPages {
  return {
    upload(path, show, run) {
      app.post<WorkspaceRoute>(`/w/:slug${path}`, async (request, reply) =>
        answer(reply, await enterWorkspace(request, workspaces), show, run),
      )
    },
  }
}

async function enterWorkspace(
  request: FastifyRequest<WorkspaceRoute>,
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
  }
}

/** Does what a form asks for, and answers. */
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
