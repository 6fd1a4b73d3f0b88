/** An answer as it is kept. */
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

/** An attempt to carry out a request, which others wait for until the lock ends. */
export interface Attempt extends IdempotentRequest {
  lockedUntil: Date
}

/** The answer to a request, to be stored in the transaction of its change. */
export interface AnswerToKeep {
  request: IdempotentRequest
  answer: StoredAnswer
}

/** What beginning a request finds: nothing before it, one still running, another request's key, or its answer. */
export type BeginResult = Attempt | 'in_flight' | 'reused' | StoredAnswer

/** Where answers are kept for 24 hours. */
export interface IdempotencyStore {
  begin(request: IdempotentRequest): Promise<BeginResult>
  /** Keeps the answer to a request that changed nothing, and returns the one that stands: the first that was kept. */
  complete(request: IdempotentRequest, answer: StoredAnswer): Promise<StoredAnswer>
  /** Forgets an attempt that failed, so that the request may be tried again, unless its answer was kept or others try. */
  abandon(attempt: Attempt): Promise<void>
}
