import type { App } from '../../http/app-types.ts'
import { health, ready } from './system.schemas.ts'
import type { SystemService } from './system.service.ts'

/** What load balancers and orchestrators ask. Open to everybody. */
export function systemRoutes(app: App, system: SystemService): void {
  app.get('/health', { schema: health, config: { vital: true } }, async () => ({
    ok: true as const,
    service: 'api' as const,
  }))

  app.addHook('preClose', async () => system.stop())

  app.get('/ready', { schema: ready, config: { vital: true } }, async () => {
    await system.assertReady()
    return { ok: true as const }
  })
}
