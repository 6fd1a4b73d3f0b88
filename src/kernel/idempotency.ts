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

/** What beginning a request finds: nothing before it, one still running, another request's key, or its answer. */
export type BeginResult = 'begun' | 'in_flight' | 'reused' | StoredAnswer

/** Where answers are kept for 24 hours. */
export interface IdempotencyStore {
  begin(request: IdempotentRequest): Promise<BeginResult>
  complete(request: IdempotentRequest, answer: StoredAnswer): Promise<void>
  /** Forgets a request that failed, so that it may be tried again. */
  abandon(request: IdempotentRequest): Promise<void>
}
