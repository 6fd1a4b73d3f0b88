import { errors } from '../../kernel/errors.ts'
import type { App } from '../../http/app-types.ts'
import type { Services } from '../../services/services.ts'

/** The keys of a person's drafts, for public/drafts.js. */
export function draftsPages(app: App, { draftKeys }: Pick<Services, 'draftKeys'>): void {
  app.get('/settings/draft-keys', async ({ headers, principal }, reply) => {
    // Pages of other sites cannot read the answer. They cannot even ask.
    const site = headers['sec-fetch-site'] ?? 'same-origin'
    if (site !== 'same-origin') throw errors.originForbidden()
    void reply.header('cross-origin-resource-policy', 'same-origin')
    return draftKeys.keysOf(principal.user.id)
  })
}
