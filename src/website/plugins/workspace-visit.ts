import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isAllowed, type WorkspaceAction } from '../../access/permissions.ts'
import type { Attachment } from '../../areas/attachments/attachments.service.ts'
import type { WorkspaceDetail, WorkspacesService } from '../../areas/workspaces/workspaces.service.ts'
import type { App } from '../../http/app-types.ts'
import { ApiError } from '../../kernel/errors.ts'
import type { Principal } from '../../domain/principal.ts'
import type { StreamListener } from './change-streams.ts'
import { answerForm, type SendOnce, type FormResult } from './answer-form.ts'
import { type FormState } from '../components/forms.ts'
import { form } from '../components/sent-form.ts'
import type { Role } from '../../domain/roles.ts'
import type { Html } from '../components/html.ts'
import type { Section } from '../components/layout.ts'
import type { Page } from './pages.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** For the page of `role_insufficient`: the person's role, and the names of some owners. */
    refusedRole: { role: Role; owners: string[] } | null
    /** For the page of `not_found`: why there is nothing any more. */
    whyMissing: WhyMissing | null
  }
}

interface WorkspaceRoute {
  Params: { slug: string; id: string; userId: string; evidenceId: string }
  Querystring: { cursor?: string }
}

/** A member's request for a page of a workspace. */
export interface WorkspaceVisit {
  request: FastifyRequest<WorkspaceRoute>
  principal: Principal
  workspace: WorkspaceDetail
  /** The form that was refused and is shown again. */
  state: FormState
  /** The files of that form which still exist. */
  attached: readonly Attachment[]
  /** The path of the workspace's pages. */
  base: string
  may: (action: WorkspaceAction) => boolean
  /** Sets a cookie, as `FastifyReply.remember` does. */
  remember: (name: string, value: string, maxAgeSeconds: number) => void
}

/** A file that the browser saves. */
export interface Download {
  content: Readable
  type: string
  /** The name of the file, in ASCII. */
  name: string
}

/** Registers pages of workspaces. */
export interface WorkspacePages {
  /** A page. `path` is relative to the workspace's. */
  page: (path: string, show: (visit: WorkspaceVisit) => Promise<Page>) => void
  /**
   * A form of the page `shownOn`, which is shown again if `run` throws an error that the person can correct. `run`
   * returns where the form leads.
   */
  action: (path: string, shownOn: string, run: (visit: WorkspaceVisit) => Promise<FormResult>) => void
  /** A form that creates something. If it is sent twice, it takes effect once. */
  creation: WorkspacePages['action']
  /** JSON for public/site.js. */
  data: (path: string, find: (visit: WorkspaceVisit) => Promise<object>) => void
  /** A file, which is sent while it is read. Without HEAD, which would read it. */
  download: (path: string, open: (visit: WorkspaceVisit) => Promise<Download>) => void
  /** A stream that reports changes to public/live.js. `watch` returns a function that stops watching. */
  changes: (
    path: string,
    watch: (visit: WorkspaceVisit, listener: StreamListener, after: string) => Promise<() => void>,
  ) => void
}

/** Registers upload forms of workspaces, in a scope with `uploadForm`. */
export interface UploadPages {
  upload: WorkspacePages['action']
}

/** Why there is nothing any more at the path of a page. */
export interface WhyMissing {
  title: string
  body?: Html
  /** The path of the page that it is now, to which pages redirect. */
  movedTo?: string
}

interface WorkspacePagesOptions {
  workspaces: WorkspacesService
  sendOnce: SendOnce
  /** Finds out why there is nothing at the path of a page, or of a form. */
  explainMissing: (visit: WorkspaceVisit) => Promise<WhyMissing | undefined>
  /** Finds the files of the form that was refused. */
  findAttached: (visit: WorkspaceVisit) => Promise<readonly Attachment[]>
}

/** Pages for members. Others get `not_a_member`, or `not_found` if there is no such workspace. */
export function createWorkspacePages(
  app: App,
  { workspaces, sendOnce, explainMissing, findAttached }: WorkspacePagesOptions,
): WorkspacePages {
  const enter = (request: FastifyRequest<WorkspaceRoute>, reply: FastifyReply) =>
    enterWorkspace(request, reply, workspaces)
  app.decorateRequest('refusedRole', null)
  app.decorateRequest('whyMissing', null)
  const explain = async <Result>(visit: WorkspaceVisit, run: (visit: WorkspaceVisit) => Promise<Result>) => {
    try {
      return await run(visit)
    } catch (error) {
      if (error instanceof ApiError && error.code === 'role_insufficient') {
        const { principal, request, workspace } = visit
        const owners = await workspaces.listOwnerNames(principal, workspace.slug)
        request.refusedRole = { role: workspace.role, owners }
      } else if (error instanceof ApiError && error.code === 'not_found')
        visit.request.whyMissing = (await explainMissing(visit)) ?? null
      throw error
    }
  }
  return {
    page(path, show) {
      app.get<WorkspaceRoute>(`/w/:slug${path}`, async (request, reply) => {
        const visit = await enter(request, reply)
        const { slug } = visit.workspace
        // A former slug redirects to the current one.
        if (slug !== request.params.slug)
          return reply.redirect(request.url.replace(`/w/${request.params.slug}`, `/w/${slug}`), 302)
        try {
          const shown = await explain({ ...visit, attached: await findAttached(visit) }, show)
          return await reply.showPage(shown)
        } catch (error) {
          const path = request.whyMissing?.movedTo
          if (path === undefined) throw error
          return reply.redirect(path, 303)
        }
      })
    },

    action(path, shownOn, run) {
      app.post<WorkspaceRoute>(`/w/:slug${path}`, form, async (request, reply) => {
        const visit = await enter(request, reply)
        return answerForm(request, reply, pathOf(visit, shownOn), () => explain(visit, run))
      })
    },

    creation(path, shownOn, run) {
      app.post<WorkspaceRoute>(`/w/:slug${path}`, form, async (request, reply) => {
        const visit = await enter(request, reply)
        return answerForm(request, reply, pathOf(visit, shownOn), () => explain(visit, run), sendOnce)
      })
    },

    data(path, find) {
      app.get<WorkspaceRoute>(`/w/:slug${path}`, async (request, reply) => find(await enter(request, reply)))
    },

    download(path, open) {
      app.get<WorkspaceRoute>(`/w/:slug${path}`, { exposeHeadRoute: false }, async (request, reply) => {
        const { content, type, name } = await explain(await enter(request, reply), open)
        return reply.type(type).header('content-disposition', `attachment; filename="${name}"`).send(content)
      })
    },

    changes(path, watch) {
      // HEAD would open a stream that nobody reads.
      app.get<WorkspaceRoute>(`/w/:slug${path}`, { exposeHeadRoute: false }, async (request, reply) => {
        const visit = await enter(request, reply)
        return reply.sendChanges((listener, after) => watch(visit, listener, after))
      })
    },
  }
}

/** Upload forms for members. */
export function createUploadPages(app: App, workspaces: WorkspacesService): UploadPages {
  return {
    upload(path, shownOn, run) {
      app.post<WorkspaceRoute>(`/w/:slug${path}`, async (request, reply) => {
        const visit = await enterWorkspace(request, reply, workspaces)
        return answerForm(request, reply, pathOf(visit, shownOn), () => run(visit))
      })
    },
  }
}

async function enterWorkspace(
  request: FastifyRequest<WorkspaceRoute>,
  reply: FastifyReply,
  workspaces: WorkspacesService,
): Promise<WorkspaceVisit> {
  const workspace = await workspaces.get(request.principal, request.params.slug)
  const base = `/w/${workspace.slug}`
  const { state } = request.flash
  const visit: WorkspaceVisit = {
    request,
    principal: request.principal,
    workspace,
    // A form that was opened under a former slug is the same form.
    state: { ...state, action: state.action?.replace(/^\/w\/[^/]+/, base) },
    attached: [],
    base,
    may: (action) => isAllowed(workspace.role, action),
    remember: (name, value, maxAgeSeconds) => void reply.remember(name, value, maxAgeSeconds),
  }
  request.section = sectionOf(visit, '')
  return visit
}

/** The path of a page of the workspace, with the parameters of the visited route. */
function pathOf({ base, request }: WorkspaceVisit, path: string): string {
  const { params } = request
  return base + path.replace(/:(\w+)/g, (_, name: keyof typeof params) => encodeURIComponent(params[name]))
}

/** The navigation of a workspace. */
export function sectionOf({ workspace, base, may }: WorkspaceVisit, current: string): Section {
  const people = [
    ['People', `${base}/people`],
    ['Teams', `${base}/teams`],
    ...(may('invites.list') ? [['Invites', `${base}/invites`] as const] : []),
  ] as const
  const settings = [
    ['General', `${base}/settings`],
    ['Service accounts', `${base}/settings/service-accounts`],
    ['Webhooks', `${base}/settings/webhooks`],
    ['API keys', `${base}/settings/api-keys`],
  ] as const
  const isOfPeople = people.some(([label]) => label === current)
  const isOfSettings = may('webhooks.list') && settings.some(([label]) => label === current)
  const tabs = isOfPeople ? people : isOfSettings ? settings : undefined
  const links = [
    ['Home', base],
    ['Seeds', `${base}/seeds`],
    ['People', `${base}/people`],
    ['Activity', `${base}/activity`],
    ['Agents', `${base}/agents`],
    ['Settings', `${base}/settings`],
  ] as const
  return {
    id: workspace.workspaceId,
    name: workspace.name,
    iconUrl: workspace.iconUrl,
    base,
    ...(may('seeds.create') && { newSeed: `${base}/seeds/new` }),
    links: links.map(([label, href]) => ({
      label,
      href,
      isCurrent: label === (isOfPeople ? 'People' : isOfSettings ? 'Settings' : current),
    })),
    ...(tabs && {
      tabs: tabs.map(([label, href]) => ({ label, href, isCurrent: label === current })),
    }),
  }
}
