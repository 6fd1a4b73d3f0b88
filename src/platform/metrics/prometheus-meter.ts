import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'
import { errors } from '../../kernel/errors.ts'
import type { Meter } from '../../kernel/meter.ts'

// From a read of a warm cache to the time after which nobody waits any longer.
const durationBuckets = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** A meter, and what it has counted, in the text format of Prometheus. */
export interface PrometheusMeter {
  meter: Meter
  registry: Registry
}

/** Counts in memory with prom-client, beside the usual metrics of the process and of Node.js. */
export function createPrometheusMeter(): PrometheusMeter {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  const duration = new Histogram({
    name: 'workspace_http_request_duration_seconds',
    help: 'From the head of a request to the end of its response.',
    labelNames: ['operation', 'method', 'status'],
    buckets: durationBuckets,
    registers,
  })
  const inFlight = new Gauge({
    name: 'workspace_http_requests_in_flight',
    help: 'Requests whose response has not ended, with open streams.',
    registers,
  })
  const answered = new Counter({
    name: 'workspace_errors_total',
    help: 'Errors that requests were answered with, by code, such as overloaded.',
    labelNames: ['code'],
    registers,
  })
  const limits = new Counter({
    name: 'workspace_rate_limit_hits_total',
    help: 'Requests that met a rate limit, by limiter.',
    labelNames: ['limiter'],
    registers,
  })
  const badCredentials = new Counter({
    name: 'workspace_bad_credentials_total',
    help: 'Requests with an invalid API key, access token or refresh token.',
    labelNames: ['kind', 'outcome'],
    registers,
  })
  const streams = new Gauge({
    name: 'workspace_streams',
    help: 'Open streams: of events for programs, and of changes for pages.',
    labelNames: ['kind'],
    registers,
  })
  const auditFailures = new Counter({
    name: 'workspace_audit_failures_total',
    help: 'Lines of the audit that could not be written.',
    registers,
  })
  const counters = {
    signIns: createOutcomes(registry, 'workspace_sign_ins_total', 'Sign-ins on the website.', [
      'succeeded',
      'second_step',
      'failed',
      'limited',
    ]),
    refreshes: createOutcomes(registry, 'workspace_agent_refreshes_total', 'Refreshes of agents.', [
      'succeeded',
      'refused',
      'limited',
      'failed',
    ]),
    mails: createOutcomes(registry, 'workspace_mails_total', 'Attempts to send a mail.', ['sent', 'failed']),
    jobs: createOutcomes(registry, 'workspace_job_attempts_total', 'Attempts at jobs.', [
      'succeeded',
      'retrying',
      'failed',
    ]),
    deliveries: createOutcomes(
      registry,
      'workspace_webhook_attempts_total',
      'Attempts at deliveries to webhooks.',
      ['delivered', 'retrying', 'failed'],
    ),
    storage: createOutcomes(
      registry,
      'workspace_storage_requests_total',
      'Files that were stored, opened or deleted.',
      ['succeeded', 'failed'],
    ),
  }
  // Series that begin when something fails hide its first failure from `rate`.
  for (const { code } of Object.values(errors)) answered.inc({ code }, 0)
  for (const kind of ['events', 'changes']) streams.set({ kind }, 0)
  for (const kind of ['bad-key', 'bad-token', 'refused-token'])
    for (const outcome of ['refused', 'limited']) badCredentials.inc({ kind, outcome }, 0)
  let requests = 0
  return {
    registry,
    meter: {
      requestBegan: () => inFlight.set((requests += 1)),
      requestEnded({ operation, method, status, seconds }) {
        inFlight.set((requests -= 1))
        duration.observe({ operation, method: methods.has(method) ? method : 'other', status }, seconds)
      },
      errorAnswered: (code) => answered.inc({ code }),
      limitMet: (limiter) => limits.inc({ limiter }),
      badCredential: (kind, outcome) => badCredentials.inc({ kind, outcome }),
      streamChanged: (kind, by) => streams.inc({ kind }, by),
      auditFailed: () => auditFailures.inc(),
      count: (name, outcome) => counters[name].inc({ outcome }),
    },
  }
}

function createOutcomes(registry: Registry, name: string, help: string, outcomes: string[]): Counter {
  const counter = new Counter({ name, help, labelNames: ['outcome'], registers: [registry] })
  for (const outcome of outcomes) counter.inc({ outcome }, 0)
  return counter
}
