import type { App } from '../../http/app-types.ts'
import { isFromUnnamedProxy } from '../../http/limits/proxy-warning.ts'
import { addressOf } from '../../http/limits/rate-limits.ts'
import { errors } from '../../kernel/errors.ts'
import { systemHealth, systemReady } from './system.schemas.ts'
import type { SystemService } from './system.service.ts'

/** The health checks of load balancers and orchestrators. Public. */
export function systemRoutes(app: App, system: SystemService): void {
  app.get('/health', { schema: systemHealth, config: { vital: true } }, async () => ({
    ok: true as const,
    service: 'api' as const,
  }))

  // For `admin check`: what the service sees of a request. To anybody else there is nothing here.
  app.get('/health/client', { schema: { hide: true } }, async (request) => {
    const { headers, socket } = request
    if (!system.isOfOperator(String(headers['x-operator-token']))) throw errors.routeNotFound()
    return {
      address: addressOf(request),
      connection: socket.remoteAddress ?? '',
      // How many addresses the proxies on the way have written.
      forwardedCount: [headers['x-forwarded-for'] ?? []].flat().join().split(',').filter(Boolean).length,
      isFromUnnamedProxy: isFromUnnamedProxy(request),
    }
  })

  app.addHook('preClose', async () => system.stop())

  app.get('/ready', { schema: systemReady, config: { vital: true } }, async () => {
    await system.assertReady()
    return { ok: true as const }
  })
}
