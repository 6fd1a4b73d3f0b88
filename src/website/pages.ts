import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../http/app-types.ts'
import type { ApiError } from '../kernel/errors.ts'
import { registerAssets } from './assets.ts'
import { html, type Html } from './html.ts'
import { renderLayout, type Section } from './layout.ts'
import { describeError } from './words.ts'

declare module 'fastify' {
  interface FastifyReply {
    /** Answers with a page of the website. */
    showPage(page: Page): FastifyReply
  }
}

/** A page, without what all pages have. */
export interface Page {
  title: string
  body: Html
  /** What the page reports; it has the error's status, and 200 without one. */
  error?: ApiError | undefined
  /** Where in the website the page is; the navigation shows it. */
  section?: Section
  /** What the page loads besides what all pages do. */
  head?: Html
  /**
   * Whether its form may lead away from this website. Browsers apply `form-action` to the redirects that follow a form
   * as well (CSP Level 3 §6.4.1), so there can be none.
   */
  mayLeave?: boolean
}

export interface PagesOptions {
  /** Where pictures come from. */
  pictureUrl: string
}

/** Makes pages available to every route, and serves what they need. */
export async function registerPages(app: App, { pictureUrl }: PagesOptions): Promise<void> {
  const assets = await registerAssets(app)
  app.decorateReply('showPage', function (this: FastifyReply, page: Page) {
    const { request } = this
    const { error, mayLeave = false } = page
    if (error?.retryAfterSeconds !== undefined) void this.header('retry-after', error.retryAfterSeconds)
    const document = renderLayout(page, {
      assets,
      user: (request.principal as typeof request.principal | null)?.user,
      csrfToken: (request.visit as typeof request.visit | null | undefined)?.csrfToken,
    })
    return (
      this.code(error?.status ?? 200)
        .type('text/html; charset=utf-8')
        .header('cache-control', 'private, no-store')
        .header('content-security-policy', describePolicy(pictureUrl, mayLeave))
        // Not `no-referrer`, under which browsers send no Origin with our own forms (Fetch §3.2); links in mails, which
        // hold tokens, are told to nobody else by this as well.
        .header('referrer-policy', 'same-origin')
        .header('cross-origin-resource-policy', 'same-origin')
        .serializer((text: unknown) => text as string)
        .send(document.toString())
    )
  })
}

function describePolicy(pictureUrl: string, mayLeave: boolean): string {
  return [
    `default-src 'none'`,
    `style-src 'self'`,
    `script-src 'self'`,
    `img-src 'self' data: ${pictureUrl}`,
    `connect-src 'self'`,
    ...(mayLeave ? [] : [`form-action 'self'`]),
    `frame-ancestors 'none'`,
    `base-uri 'none'`,
  ].join(';')
}

// What is there for programs answers them in their own language, also where there is nothing.
const programPaths = /^\/(v1|agent|docs|pictures|assets|health|ready|openapi\.json|\.well-known)(\/|$|\?)/

/** Answers an error as a page, where a page was asked for; undefined elsewhere. */
export function showError(
  error: ApiError,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply | undefined {
  if (!isPageWanted(request)) return undefined
  if (error.code === 'sign_in_required') {
    const next = request.method === 'POST' ? '' : `?next=${encodeURIComponent(request.url)}`
    return reply.redirect(`/sign-in${next}`, 303)
  }
  return reply.showPage({ ...renderError(error, request.id), error })
}

function isPageWanted({ headers, is404, routeOptions, url }: FastifyRequest): boolean {
  const takesPages = headers.accept?.includes('text/html') ?? false
  if (is404) return takesPages && !programPaths.test(url)
  if (routeOptions.config.access !== 'web') return false
  return takesPages || headers.accept?.includes('application/json') !== true
}

const titles: Record<number, string> = {
  403: 'You may not do this',
  404: 'There is nothing here',
  409: 'This cannot be done now',
  413: 'That was too much',
  429: 'Too many attempts',
  500: 'Something went wrong',
  503: 'The service cannot answer at the moment',
}

function renderError(error: ApiError, requestId: string): Pick<Page, 'title' | 'body'> {
  const { status, code } = error
  const title = code === 'form_expired' ? 'Please try again' : (titles[status] ?? 'This did not work')
  const text = code === 'route_not_found' ? 'No page has this address.' : describeError(error)
  return {
    title,
    body: html`<section class="narrow">
      <h1>${title}</h1>
      <p>${text}</p>
      <p><a class="button" href="/">Go to the start page</a></p>
      ${status >= 500 && html`<p class="hint">Request <code>${requestId}</code></p>`}
    </section>`,
  }
}
