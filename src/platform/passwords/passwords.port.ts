/** Hashes passwords, and recognizes common ones. */
export interface PasswordHasher {
  /** Returns the hash to store, which includes the salt and the parameters. */
  hash(password: string): Promise<string>
  /**
   * Whether a password matches a hash. Without a hash false, after the same work, so that timing reveals no accounts.
   */
  verify(hash: string | undefined, password: string): Promise<boolean>
  /** Whether a hash was made with other parameters than the current ones. */
  isOutdated(hash: string): boolean
  /** Whether a password is too common. */
  isCommon(password: string): Promise<boolean>
}
