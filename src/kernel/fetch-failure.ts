/**
 * What a URL names could not be fetched. The message is the same for all causes, since strangers learn it. `reason` is for
 * the log of the operator.
 */
export class FetchFailure extends Error {
  override readonly name = 'FetchFailure'
  readonly reason: string
  /** The status of the response; undefined if there was none. */
  readonly status: number | undefined
  /** Whether it failed moments ago and was not tried again. */
  readonly isRemembered: boolean

  constructor(
    reason: string,
    options: { status?: number | undefined; isRemembered?: boolean; cause?: unknown } = {},
  ) {
    super('the document could not be fetched', { cause: options.cause })
    this.reason = reason
    this.status = options.status
    this.isRemembered = options.isRemembered ?? false
  }
}
