import type { RecentWorkspace, Shell } from '../../accounts/sessions/sessions.service.ts'
import type { PrincipalUser } from '../../domain/principal.ts'
import type { Assets } from '../../assets/assets.ts'
import { unreadCountMax } from '../../domain/notifications.ts'
import { serviceName } from '../../domain/service-name.ts'
import { html, type Content, type Html } from './html.ts'
import { hueOf } from './hues.ts'
import { themes, type Theme } from './theme.ts'
import { csrfFieldName } from './sent-form.ts'

/** A part of the website with its own navigation. */
export interface Section {
  /** The name of the workspace, or of the part. */
  name: string
  iconUrl?: string | null
  /** The path of the workspace, if the part is one, and its id. */
  base?: string
  id?: string
  links: Link[]
  /** The pages beside the current one, below the same link. */
  tabs?: Link[]
  /** The path of the form for a new seed, for those who may create one. */
  newSeed?: string
}

interface Link {
  href: string
  label: string
  isCurrent: boolean
}

interface LayoutContext {
  assets: Assets
  theme: Theme
  user: PrincipalUser | undefined
  csrfToken: string | undefined
  /** Tells which texts in the browser are the person's (public/site.js). */
  draftTags: string | undefined
  /** What the header shows of the person. */
  shell: Shell | undefined
  hasWorkspaceCreation: boolean
  /** Whether the installation sends mails and webhooks. */
  isOutgoing: boolean
}

/** Renders the document around a page's body. */
export function renderLayout(
  page: { title: string; body: Html; section?: Section; head?: Html; isLive?: boolean; isSignIn?: boolean },
  context: LayoutContext,
): Html {
  const { title, body, section, head, isLive = false, isSignIn = false } = page
  const { assets, theme } = context
  return html`<!doctype html>
    <html lang="en" ${theme !== 'system' && html`data-theme="${theme}"`}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="${theme === 'system' ? 'light dark' : theme}" />
        <title>${section ? `${title} · ${section.name}` : title} · ${serviceName}</title>
        <link rel="stylesheet" href="${assets.stylesheet}" />
        <link rel="icon" href="${assets.icon}" type="image/svg+xml" />
        ${isLive && html`<script src="${assets.live}" defer></script>`}
        <script src="${assets.script}" defer></script>
        ${head}
      </head>
      <body ${context.draftTags !== undefined && html`data-drafts="${context.draftTags}"`}>
        <a class="skip" href="#main">Skip to content</a>
        ${
          !context.isOutgoing &&
          html`<p class="outgoing-off">This is a copy. It sends no emails and nothing to webhooks.</p>`
        }
        <header class="top">
          <div class="bar">
            <a class="brand" href="/"
              ><img src="${assets.icon}" alt="" width="24" height="24" /><span>${serviceName}</span></a
            >
            ${context.shell && renderSwitcher(context.shell, section, context.hasWorkspaceCreation)}
            <div class="end">
              ${renderNewSeed(section)} ${renderFind(section?.base ?? lastUsedOf(context.shell), assets)}
              ${context.shell && renderBell(context.shell)} ${renderAccount(context, isSignIn)}
            </div>
          </div>
          ${section && renderLinks(section.links, { className: 'sections', label: section.name })}
        </header>
        <main id="main">${section && renderTabs(section)} ${body}</main>
        <footer>
          <a href="/help#keys" data-key="?">Help</a>
          <a href="/docs">API documentation</a>
        </footer>
      </body>
    </html>`
}

function renderTabs({ links, tabs }: Section): Content {
  const label = links.find(({ isCurrent }) => isCurrent)?.label ?? ''
  return tabs && renderLinks(tabs, { className: 'tabs', label })
}

function renderLinks(
  links: readonly Link[],
  { className, label }: { className: string; label: string },
): Html {
  return html`<nav class="${className}" aria-label="${label}">
    ${links.map(
      ({ href, label: text, isCurrent }) =>
        html`<a href="${href}" ${isCurrent && html`aria-current="page"`}>${text}</a>`,
    )}
  </nav>`
}

/** The menu of the person's workspaces. */
function renderSwitcher(
  { workspaces }: Shell,
  section: Section | undefined,
  hasWorkspaceCreation: boolean,
): Html {
  const isInWorkspace = section?.base !== undefined
  return html`<details class="menu start switcher" name="menu">
    <summary>
      ${
        isInWorkspace
          ? html`${renderIcon({ id: section.id, name: section.name, iconUrl: section.iconUrl ?? null }, 28)}<span
                class="truncate"
                title="${section.name}"
                ><bdi>${section.name}</bdi></span
              ><span class="visually-hidden">, switch workspace</span>`
          : 'Workspaces'
      }
    </summary>
    <nav class="panel" aria-label="Workspaces">
      <ul>
        ${workspaces.map((workspace) => html`<li>${renderWorkspaceLink(workspace, section?.base)}</li>`)}
      </ul>
      ${workspaces.length > 0 && html`<hr />`}
      <a href="/onboarding">All workspaces</a>
      ${hasWorkspaceCreation && html`<a href="/onboarding#name">New workspace</a>`}
    </nav>
  </details>`
}

function renderWorkspaceLink(workspace: RecentWorkspace, base: string | undefined): Html {
  const { name, slug } = workspace
  const path = `/w/${slug}`
  return html`<a href="${path}" ${path === base && html`aria-current="true"`}
    >${renderIcon(workspace, 28)}<span class="truncate" title="${name}"><bdi>${name}</bdi></span></a
  >`
}

/** The path of the workspace that the person used last. */
function lastUsedOf(shell: Shell | undefined): string | undefined {
  const [last] = shell?.workspaces ?? []
  return last && `/w/${last.slug}`
}

/**
 * The link to the search of a workspace, which public/site.js turns into the button of the command palette. Nothing for
 * people without a workspace.
 */
function renderFind(base: string | undefined, { palette }: Assets): Content {
  if (base === undefined) return false
  return html`<a
    class="find"
    href="${base}/search"
    data-palette="${palette}"
    data-results="${base}/search/results"
    ><span>Search</span><kbd hidden></kbd
  ></a>`
}

/** The link to the form for a new seed, on each page of a workspace. */
function renderNewSeed(section: Section | undefined): Content {
  if (section?.newSeed === undefined) return false
  return html`<a class="new" href="${section.newSeed}" title="New seed" data-key="c" aria-keyshortcuts="c"
    ><svg viewBox="0 0 16 16" width="20" height="20" aria-hidden="true"><path d="M8 2.5v11M2.5 8h11" /></svg
  ></a>`
}

const bellPath =
  'M8 1.5a4.5 4.5 0 0 0-4.5 4.5v2.6L2 11.5h12l-1.5-2.9V6A4.5 4.5 0 0 0 8 1.5ZM6.2 13a1.9 1.9 0 0 0 3.6 0'

/** The link to the inbox, with the number of what is unread. public/site.js keeps the number up to date. */
function renderBell({ unreadCount }: Shell): Html {
  const isMany = unreadCount >= unreadCountMax
  const most = unreadCountMax - 1
  const label = unreadCount === 0 ? '' : `, ${isMany ? `more than ${most}` : unreadCount} unread`
  const shown = unreadCount === 0 ? '' : isMany ? `${most}+` : unreadCount
  return html`<a class="bell" href="/notifications" aria-label="Notifications${label}" data-most="${most}"
    ><svg viewBox="0 0 16 16" width="20" height="20" aria-hidden="true"><path d="${bellPath}" /></svg
    ><span class="count">${shown}</span></a
  >`
}

function renderAccount({ user, csrfToken, theme, shell }: LayoutContext, isSignIn: boolean): Content {
  // Pages that read no session.
  if (csrfToken === undefined)
    return html`<nav aria-label="Website"><a href="/">Go to the home page</a></nav>`
  if (!user) return !isSignIn && html`<nav aria-label="Account"><a href="/sign-in">Sign in</a></nav>`
  const token = html`<input type="hidden" name="${csrfFieldName}" value="${csrfToken}" />`
  return html`<details class="menu" name="menu">
    <summary>
      ${renderFace({ id: user.id, name: user.name, image: shell?.imageUrl ?? null }, 28)}
      <span class="visually-hidden">Account of <bdi>${user.name}</bdi></span>
    </summary>
    <nav class="panel" aria-label="Account">
      <p>
        <strong class="truncate"><bdi>${user.name}</bdi></strong>
        <span class="hint truncate">${user.email}</span>
      </p>
      <hr />
      <a href="/settings/profile">Profile</a>
      <a href="/settings/security">Security</a>
      <a href="/settings/notifications">Email settings</a>
      <hr />
      <form class="segments" method="post" action="/settings/theme" aria-label="Theme">
        ${token}${themes.map(
          (value) =>
            html`<button name="theme" value="${value}" aria-pressed="${value === theme ? 'true' : 'false'}">
              ${themeNames[value]}
            </button>`,
        )}
      </form>
      <hr />
      <form method="post" action="/sign-out">${token}<button>Sign out</button></form>
    </nav>
  </details>`
}

const themeNames: Record<Theme, string> = { system: 'System', light: 'Light', dark: 'Dark' }

/** The picture of a person, which is round. */
export function renderFace(
  { id, name, image }: { id: string | null; name: string; image: string | null },
  size: PictureSize,
): Html {
  return renderPicture(image, name, { id, size, shape: 'round' })
}

/** The picture of an agent, which is none of a person: another shape, in the color of agents. */
export function renderAgentFace(name: string): Html {
  return html`<span class="picture agent s28" aria-hidden="true">${initialOf(name)}</span>`
}

/** The icon of a workspace, which is square. Without an id it has no color. */
export function renderIcon(
  { id, name, iconUrl }: { id?: string | undefined; name: string; iconUrl: string | null },
  size: PictureSize,
): Html {
  return renderPicture(iconUrl, name, { id, size, shape: 'square' })
}

type PictureSize = 28 | 40 | 64

/** A picture, or the first letter of the name if there is none. It is decorative: the name is shown beside it. */
function renderPicture(
  url: string | null,
  name: string,
  options: { id: string | null | undefined; size: PictureSize; shape: 'round' | 'square' },
): Html {
  const { id, size, shape } = options
  if (url !== null)
    return html`<img
      class="picture ${shape} s${size}"
      src="${url}"
      alt=""
      width="${size}"
      height="${size}"
    />`
  const hue = id ? ` hue-${hueOf(id)}` : ''
  return html`<span class="picture ${shape} s${size}${hue}" aria-hidden="true">${initialOf(name)}</span>`
}

function initialOf(name: string): string {
  return Array.from(name)[0]?.toUpperCase() ?? ''
}
