import { errors } from '../kernel/errors.ts'
import type { App } from '../http/app-types.ts'
import type { PictureStore } from './picture-store.ts'

/** Serves pictures to everybody who has the URL. Not an operation of the API. */
export function picturesRoutes(app: App, pictures: PictureStore): void {
  app.get<{ Params: { key: string } }>(
    '/pictures/:key',
    { schema: { hide: true } },
    async (request, reply) => {
      const picture = await pictures.open(request.params.key)
      if (!picture) throw errors.notFound()
      return reply
        .type('image/webp')
        .header('content-length', picture.sizeBytes)
        .header('cache-control', 'public, max-age=31536000, immutable')
        .send(picture.content)
    },
  )
}
