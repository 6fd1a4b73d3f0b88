/** A response as it is stored, with its body encrypted. */
export interface StoredAnswer {
  status: number
  contentType: string
  sealedBody: Buffer
}

/** One use of an `Idempotency-Key`. */
export interface IdempotentRequest {
  apiKeyId: string
  /** SHA-256 of the header's value. */
  keyHash: Buffer
  /** SHA-256 of method, URL and body. */
  fingerprint: Buffer
}

/** A running attempt at a request. Until `lockedUntil`, other attempts are refused. */
export interface Attempt extends IdempotentRequest {
  lockedUntil: Date
}

/** The response to a request, to be stored in the transaction of its change. */
export interface AnswerToKeep {
  request: IdempotentRequest
  answer: StoredAnswer
}

/**
 * The result of beginning a request: a new attempt, `in_flight` while another attempt runs, `reused` when the key was
 * used for another request, or the stored response.
 */
export type BeginResult = Attempt | 'in_flight' | 'reused' | StoredAnswer

/** Stores responses for 24 hours. */
export interface IdempotencyStore {
  begin(request: IdempotentRequest): Promise<BeginResult>
  /**
   * Stores the response to a request that changed nothing. Returns the first response that was stored for the request.
   */
  complete(request: IdempotentRequest, answer: StoredAnswer): Promise<StoredAnswer>
  /** Unlocks the key of a failed attempt, unless a response is stored or another attempt has begun. */
  abandon(attempt: Attempt): Promise<void>
}
