/** Hashes what people choose, slowly, and knows what too many choose. */
export interface PasswordHasher {
  /** The hash to store, with its own salt and parameters in it. */
  hash(password: string): Promise<string>
  /** Whether a password is that of a hash. Without a hash it is no, after as much work: nobody learns who has one. */
  verify(hash: string | undefined, password: string): Promise<boolean>
  /** Whether a hash was made with weaker parameters than those of today. */
  isOutdated(hash: string): boolean
  /** Whether a password is one of those that are tried first. */
  isCommon(password: string): Promise<boolean>
}
