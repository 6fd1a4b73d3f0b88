import type { Meter } from '../../kernel/meter.ts'
import { startMetricsServer } from './metrics-server.ts'
import { observeResources, type ObservedResources } from './observe-resources.ts'
import { createPrometheusMeter } from './prometheus-meter.ts'

/** The metrics of a process. */
export interface Metrics {
  meter: Meter
  /** Adds what is read when somebody asks for the metrics. */
  observe(resources: ObservedResources): void
  /** Serves the metrics. Rejects if it cannot listen. */
  listen(address: { host: string; port: number }): Promise<{ close: () => Promise<void> }>
  /** What `/metrics` answers. */
  read(): Promise<string>
}

/** The only way to prom-client: imported by a process with metrics alone. */
export function createMetrics(): Metrics {
  const { meter, registry } = createPrometheusMeter()
  return {
    meter,
    observe: (resources) => observeResources(registry, resources),
    listen: (address) => startMetricsServer(registry, address),
    read: () => registry.metrics(),
  }
}
