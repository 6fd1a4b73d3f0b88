import type { App } from '../../http/app-types.ts'
import { systemHealth, systemReady } from './system.schemas.ts'
import type { SystemService } from './system.service.ts'

/** The health checks of load balancers and orchestrators. Public. */
export function systemRoutes(app: App, system: SystemService): void {
  app.get('/health', { schema: systemHealth, config: { vital: true } }, async () => ({
    ok: true as const,
    service: 'api' as const,
  }))

  app.addHook('preClose', async () => system.stop())

  app.get('/ready', { schema: systemReady, config: { vital: true } }, async () => {
    await system.assertReady()
    return { ok: true as const }
  })
}
