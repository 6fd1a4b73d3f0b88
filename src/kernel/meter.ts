/** What is counted by its outcome. */
export interface Outcomes {
  /** Sign-ins on the website. `second_step` waits for the second step, which then succeeds or fails. */
  signIns: 'succeeded' | 'second_step' | 'failed' | 'limited'
  /** Refreshes of the access of agents. */
  refreshes: 'succeeded' | 'refused' | 'limited' | 'failed'
  mails: 'sent' | 'failed'
  /** Attempts at jobs: after `retrying` another one follows. */
  jobs: 'succeeded' | 'retrying' | 'failed'
  /** Attempts at deliveries to webhooks: after `retrying` another one follows. */
  deliveries: 'delivered' | 'retrying' | 'failed'
  /** Files of the storage that were stored, opened or deleted. */
  storage: 'succeeded' | 'failed'
}

/** A request that has been answered. */
export interface MeasuredRequest {
  /** The id of the operation, or the pattern of the page; `none` if no route has the path. */
  operation: string
  method: string
  status: number
  seconds: number
}

/**
 * Counts what happens in a process, for the metrics of operators. The values of labels are words of the code, never those
 * of a request, so that nobody can make the number of series grow.
 */
export interface Meter {
  requestBegan(): void
  requestEnded(request: MeasuredRequest): void
  /** An error of the catalogue was answered, or shown in a form. */
  errorAnswered(code: string): void
  /** A request met the limit of a rate limiter. */
  limitMet(limiter: string): void
  /** A bad credential was refused, or not looked at, since too many came from its address. */
  badCredential(kind: string, outcome: 'refused' | 'limited'): void
  /** A stream of events was opened or has ended. */
  streamChanged(kind: 'events' | 'changes', by: 1 | -1): void
  /** A line of the audit could not be written. */
  auditFailed(): void
  count<Name extends keyof Outcomes>(name: Name, outcome: Outcomes[Name]): void
}

const ignore = () => undefined

/** Counts nothing. */
export const noMeter: Meter = {
  requestBegan: ignore,
  requestEnded: ignore,
  errorAnswered: ignore,
  limitMet: ignore,
  badCredential: ignore,
  streamChanged: ignore,
  auditFailed: ignore,
  count: ignore,
}
