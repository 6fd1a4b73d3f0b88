import type { App } from '../../http/app-types.ts'
import { publicAccess } from '../../http/credentials/route-guard.ts'
import { errors } from '../../kernel/errors.ts'
import { readApiDescription } from './api-description.ts'
import { serveAsset } from '../../assets/assets.ts'
import { renderErrorCatalogue, renderReference } from './docs.views.ts'
import { html } from '../components/html.ts'
import type { Page } from '../plugins/pages.ts'

/** Serves the API reference and the error catalogue. Both are public, and read no session. */
export async function docsPages(app: App): Promise<void> {
  await app.register(publicAccess)
  const head = html`<link rel="stylesheet" href="${serveAsset(app, 'docs', 'css')}" />
    <script src="${serveAsset(app, 'docs', 'js')}" defer></script>`
  const catalogue = Object.values(errors)
  const schema = { hide: true }

  // The description exists once the service is ready, and does not change afterwards.
  let reference: Page | undefined
  for (const url of ['/docs', '/docs/']) {
    app.get(url, { schema, config: { isLarge: true, isUnchanging: true } }, async (_request, reply) => {
      reference ??= { ...renderReference(readApiDescription(app.swagger()), catalogue), head }
      return reply.showPage(reference)
    })
  }
  const errorCatalogue = { ...renderErrorCatalogue(catalogue), head }
  app.get(
    '/docs/errors',
    { schema, config: { isLarge: true, isUnchanging: true } },
    async (_request, reply) => reply.showPage(errorCatalogue),
  )
}
