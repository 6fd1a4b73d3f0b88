import type { App } from '../../http/app-types.ts'
import { publicAccess } from '../../http/credentials/route-guard.ts'
import { errors } from '../../kernel/errors.ts'
import { readApiDescription } from './api-description.ts'
import { serveAsset } from '../../assets/assets.ts'
import { findClientPackage, serveClientPackage } from '../../assets/client-package.ts'
import { readDocument } from '../../assets/documents.ts'
import { renderErrorCatalogue, renderGuideIndex, renderGuidePage, renderReference } from './docs.views.ts'
import { renderGuide } from './guide-markdown.ts'
import { guides, textOfGuide } from './guides.ts'
import { html } from '../components/html.ts'
import type { Page } from '../plugins/pages.ts'

export interface DocsOptions {
  baseUrl: string
  webUrl: string
}

/** Serves the API reference, the guides, the error catalogue and the typed client. All are public, and read no session. */
export async function docsPages(app: App, { baseUrl, webUrl }: DocsOptions): Promise<void> {
  await app.register(publicAccess)
  const clientPackage = findClientPackage()
  if (clientPackage) serveClientPackage(app, clientPackage)
  const head = html`<link rel="stylesheet" href="${serveAsset(app, 'docs', 'css')}" />
    <script src="${serveAsset(app, 'docs', 'js')}" defer></script>`
  const catalogue = Object.values(errors)
  const schema = { hide: true }

  // The description exists once the service is ready, and does not change afterwards.
  let reference: Page | undefined
  for (const url of ['/docs', '/docs/']) {
    app.get(url, { schema, config: { isLarge: true, isUnchanging: true } }, async (_request, reply) => {
      reference ??= { ...renderReference(readApiDescription(app.swagger()), catalogue, clientPackage), head }
      return reply.showPage(reference)
    })
  }
  const errorCatalogue = { ...renderErrorCatalogue(catalogue), head }
  app.get(
    '/docs/errors',
    { schema, config: { isLarge: true, isUnchanging: true } },
    async (_request, reply) => reply.showPage(errorCatalogue),
  )

  const index = { ...renderGuideIndex(), head }
  for (const url of ['/docs/guides', '/docs/guides/'])
    app.get(url, { schema, config: { isUnchanging: true } }, async (_request, reply) => reply.showPage(index))
  const origins = { 'https://api.example.com': baseUrl, 'https://app.example.com': webUrl }
  for (const guide of guides) {
    // Read at once, so that a process without them does not start.
    const text = textOfGuide(guide, readDocument(guide.file))
    let page: Page | undefined
    app.get(
      `/docs/guides/${guide.name}`,
      { schema, config: { isLarge: true, isUnchanging: true } },
      async (_request, reply) => {
        page ??= { ...renderGuidePage(guide, renderGuide(text, guide.file, origins)), head }
        return reply.showPage(page)
      },
    )
  }
}
