import type { App } from '../../http/app-types.ts'
import { publicAccess } from '../../http/credentials/route-guard.ts'
import { errors } from '../../kernel/errors.ts'
import { readApiDescription, readGroupOfApi } from './api-description.ts'
import { serveAsset } from '../../assets/assets.ts'
import { findClientPackage, serveClientPackage } from '../../assets/client-package.ts'
import { readDocument } from '../../assets/documents.ts'
import {
  pathOfGroup,
  renderErrorCatalogue,
  renderGroup,
  renderGuideIndex,
  renderGuidePage,
  renderReference,
} from './docs.views.ts'
import { renderGuide } from './guide-markdown.ts'
import { guides, textOfGuide } from './guides.ts'
import { html } from '../components/html.ts'
import type { Page } from '../plugins/pages.ts'

export interface DocsOptions {
  baseUrl: string
  webUrl: string
  /** The tags of the description. */
  groups: readonly { name: string }[]
}

/** Serves the API reference, the guides, the error catalogue and the typed client. All are public, and read no session. */
export async function docsPages(app: App, { baseUrl, webUrl, groups }: DocsOptions): Promise<void> {
  await app.register(publicAccess)
  const clientPackage = findClientPackage()
  if (clientPackage) serveClientPackage(app, clientPackage)
  const head = html`<link rel="stylesheet" href="${serveAsset(app, 'docs', 'css')}" />
    <script src="${serveAsset(app, 'docs', 'js')}" defer></script>`
  const catalogue = Object.values(errors)
  const schema = { hide: true }

  /** Serves a large page, which is made when it is first asked for. */
  function servePage(urls: readonly string[], render: () => Page): void {
    let page: Page | undefined
    for (const url of urls)
      app.get(url, { schema, config: { isLarge: true, isUnchanging: true } }, async (_request, reply) =>
        reply.showPage((page ??= { ...render(), head })),
      )
  }

  // The description exists once the service is ready, and does not change afterwards.
  servePage(['/docs', '/docs/'], () => renderReference(readApiDescription(app.swagger()), clientPackage))
  for (const { name } of groups)
    servePage([pathOfGroup(name)], () =>
      renderGroup(readGroupOfApi(app.swagger(), name), { groups, baseUrl, catalogue }),
    )
  servePage(['/docs/errors'], () => renderErrorCatalogue(catalogue))

  const index = { ...renderGuideIndex(), head }
  for (const url of ['/docs/guides', '/docs/guides/'])
    app.get(url, { schema, config: { isUnchanging: true } }, async (_request, reply) => reply.showPage(index))
  const origins = { 'https://api.example.com': baseUrl, 'https://app.example.com': webUrl }
  for (const guide of guides) {
    // Read at once, so that a process without them does not start.
    const text = textOfGuide(guide, readDocument(guide.file))
    servePage([`/docs/guides/${guide.name}`], () =>
      renderGuidePage(guide, renderGuide(text, guide.file, origins)),
    )
  }
}
