import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../../http/app-types.ts'
import type { ApiError } from '../../kernel/errors.ts'
import { registerAssets } from '../../assets/assets.ts'
import { renderErrorPage } from '../components/error-page.ts'
import { renderWrittenTexts } from '../components/written-texts.ts'
import { renderRefusal } from '../components/forms.ts'
import { html, type Html } from '../components/html.ts'
import { renderLayout, type Section } from '../components/layout.ts'
import { findPendingConsent, renderPendingConsent } from './pending-consent.ts'
import { isOfScript } from '../components/sent-form.ts'
import { readTheme } from '../components/theme.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The navigation of the workspace that the person has entered, for pages of errors. */
    section: Section | null
  }
  interface FastifyReply {
    /** Sends a page of the website. */
    showPage(page: Page): FastifyReply
  }
}

/** A page without the shared layout. */
export interface Page {
  title: string
  body: Html
  /** The error that the page reports. It sets the status, which is 200 otherwise. Default: that of a refused form. */
  error?: ApiError | undefined
  /** The status of a page that reports another error. */
  status?: number
  /** The navigation above the page. */
  section?: Section
  /** More elements for `<head>`. */
  head?: Html
  /** Whether the page has a form of `renderPasskeyForm`, which needs its script. */
  hasPasskeys?: boolean
  /** Whether the page has a form of `renderCommentForm`, which has a script. */
  hasMentions?: boolean
  /**
   * Whether the page may be without a form with a text that was begun on it, as for who may not send it any more. What was
   * begun is then shown to copy. Pages of errors do the same.
   */
  hasLostForms?: boolean
  /**
   * Whether parts of the page have `data-live`, so that a script fetches them again when something happens
   * (docs/design/events.md#live-pages).
   */
  isLive?: boolean
  /** Whether the page has the board of seeds, which has a script. */
  hasBoard?: boolean
  /** Whether the page has the title of a new seed, which has a script. */
  hasSimilar?: boolean
  /**
   * Whether a form of the page may redirect to another origin. Browsers also apply `form-action` to the redirects that
   * follow a form (CSP Level 3 §6.4.1), so the policy of the page omits it.
   */
  mayLeave?: boolean
  /** Whether it is the page on which people sign in, which needs no link to it. */
  isSignIn?: boolean
  /** Whether people come here on the way to a consent page. If one waits, the page says so and offers to deny. */
  isOnTheWay?: boolean
}

export interface PagesOptions {
  /** The origin that serves pictures. */
  pictureUrl: string
  /** Whether people create workspaces. */
  hasWorkspaceCreation: boolean
  /** Whether the installation sends mails and webhooks. */
  isOutgoing: boolean
  /** Tells which texts that were begun are a person's (`DraftKeys`). */
  draftTagsOf: (userId: string) => string
}

/** Adds `reply.showPage`, and serves the assets of pages. */
export async function registerPages(
  app: App,
  { pictureUrl, hasWorkspaceCreation, isOutgoing, draftTagsOf }: PagesOptions,
): Promise<void> {
  const assets = await registerAssets(app)
  app.decorateRequest('section', null)
  app.decorateReply('showPage', function (this: FastifyReply, page: Page) {
    const { request } = this
    const refusal = (request.flash as typeof request.flash | null | undefined)?.state.error
    // The refused form may be gone, or may consist of a button.
    const isRefusalHidden = refusal !== undefined && request.flash.isErrorShown !== true
    const { error = refusal, isOnTheWay = false } = page
    const title = refusal ? `Error: ${page.title}` : page.title
    const consent = isOnTheWay ? findPendingConsent(request) : undefined
    const status = page.status ?? error?.status ?? 200
    // Reloading the page would send the form again (docs/design/forms.md#answers-are-redirects).
    if (request.method === 'POST' && status < 400) throw new Error('a form is answered with a redirect')
    const mayLeave = page.mayLeave === true || consent !== undefined
    if (error?.retryAfterSeconds !== undefined) void this.header('retry-after', error.retryAfterSeconds)
    const written = renderWrittenTexts(request)
    // First what went wrong, then what it is about.
    const isErrorPage = page.error !== undefined
    const notice = consent !== undefined && renderPendingConsent(request, consent)
    const user = (request.principal as typeof request.principal | null)?.user
    // Also in texts to copy, of the request and of public/drafts.js.
    const hasMentions = page.hasMentions === true || written !== false || (user !== undefined && isErrorPage)
    const script =
      (page.hasPasskeys && assets.passkeys) ||
      (hasMentions && assets.mentions) ||
      (page.hasBoard && assets.board)
    // Fields of renderField. Of what people wrote, it is escaped.
    const hasTexts = page.body.toString().includes('<textarea data-text')
    const takesFiles = hasTexts && page.body.toString().includes('data-attach="')
    const mayHaveDrafts = user && (hasTexts || isErrorPage || page.hasLostForms)
    const head = html`${script ? html`<script src="${script}" defer></script>` : page.head}${hasTexts && html`<script src="${assets.texts}" type="module"></script>`}${takesFiles && html`<script src="${assets.attachments}" type="module"></script>`}${page.hasSimilar && html`<script src="${assets.similar}" type="module"></script>`}${mayHaveDrafts && html`<script src="${assets.drafts}" type="module"></script>`}`
    const document = renderLayout(
      {
        ...page,
        head,
        title,
        body: html`${notice}${isRefusalHidden && renderRefusal(request)}${!isErrorPage && written}${page.body}${isErrorPage && written}`,
      },
      {
        assets,
        theme: readTheme(request),
        user,
        draftTags: user && draftTagsOf(user.id),
        csrfToken: (request.visit as typeof request.visit | null | undefined)?.csrfToken,
        shell: (request.visit as typeof request.visit | null | undefined)?.shell,
        hasWorkspaceCreation,
        isOutgoing,
      },
    )
    return (
      this.code(status)
        .type('text/html; charset=utf-8')
        .header('cache-control', 'private, no-store')
        .header('content-security-policy', describePolicy(pictureUrl, mayLeave))
        // Other sites do not learn URLs, some of which contain tokens. Under `no-referrer`, browsers would also send
        // `Origin: null` with our own forms (Fetch §3.2).
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

// Paths for programs, which get JSON even if the path does not exist.
const programPaths = /^\/(v1|agent|docs|pictures|assets|health|ready|openapi\.json|\.well-known)(\/|$|\?)/

/** Answers an error with a page if the client wants one; returns undefined otherwise. */
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
  if (error.code === 'second_step_expired') return reply.redirect('/sign-in?done=second-step-expired', 303)
  return reply.showPage(renderErrorPage(error, request))
}

function isPageWanted(request: FastifyRequest): boolean {
  const { headers, is404, routeOptions, url } = request
  if (is404) return headers.accept?.includes('text/html') === true && !programPaths.test(url)
  return routeOptions.config.access === 'web' && !isOfScript(request)
}
