import type { PrincipalUser } from '../kernel/principal.ts'
import type { Assets } from './assets.ts'
import { html, type Html } from './html.ts'
import { csrfFieldName } from './web-session.ts'

/** A part of the website with its own navigation. */
export interface Section {
  /** Shown above the links, such as the name of a workspace. */
  name: string
  iconUrl?: string | null
  links: { href: string; label: string; isCurrent: boolean }[]
}

interface LayoutContext {
  assets: Assets
  user: PrincipalUser | undefined
  csrfToken: string | undefined
}

/** Renders the document around a page's body. */
export function renderLayout(
  { title, body, section, head }: { title: string; body: Html; section?: Section; head?: Html },
  { assets, user, csrfToken }: LayoutContext,
): Html {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${section ? `${title} · ${section.name}` : title} · Workspace</title>
        <link rel="stylesheet" href="${assets.stylesheet}" />
        <link rel="icon" href="${assets.icon}" type="image/svg+xml" />
        <script src="${assets.script}" defer></script>
        ${head}
      </head>
      <body>
        <a class="skip" href="#main">Skip to content</a>
        <header class="top">
          <a class="brand" href="/"><img src="${assets.icon}" alt="" width="24" height="24" />Workspace</a>
          ${csrfToken === undefined ? renderHomeLink() : renderAccountMenu(user, csrfToken)}
        </header>
        ${section && renderSection(section)}
        <main id="main">${body}</main>
        <footer><a href="/docs">API documentation</a></footer>
      </body>
    </html>`
}

/** The navigation of pages that read no session. */
function renderHomeLink(): Html {
  return html`<nav aria-label="Website"><a href="/">Go to the home page</a></nav>`
}

function renderAccountMenu(user: PrincipalUser | undefined, csrfToken: string): Html {
  if (!user) return html`<nav aria-label="Account"><a href="/sign-in">Sign in</a></nav>`
  return html`<nav aria-label="Account">
    <a href="/onboarding">Workspaces</a>
    <a href="/settings/profile"><bdi>${user.name}</bdi></a>
    <form method="post" action="/sign-out">
      <input type="hidden" name="${csrfFieldName}" value="${csrfToken}" />
      <button class="link">Sign out</button>
    </form>
  </nav>`
}

function renderSection({ name, iconUrl, links }: Section): Html {
  return html`<nav class="section" aria-label="${name}">
    <p class="section-name">
      ${iconUrl !== undefined && renderPicture(iconUrl, name, 28)} <strong><bdi>${name}</bdi></strong>
    </p>
    <div class="links">
      ${links.map(
        ({ href, label, isCurrent }) =>
          html`<a href="${href}" ${isCurrent && html`aria-current="page"`}>${label}</a>`,
      )}
    </div>
  </nav>`
}

/** A picture, or the first letter of the name if there is none. It is decorative: the name is shown beside it. */
export function renderPicture(url: string | null, name: string, size: number): Html {
  const letter = Array.from(name)[0]?.toUpperCase() ?? ''
  return url === null
    ? html`<span class="picture letter s${size}" aria-hidden="true">${letter}</span>`
    : html`<img class="picture s${size}" src="${url}" alt="" width="${size}" height="${size}" />`
}
