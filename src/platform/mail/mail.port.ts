/** A mail to one person. */
export interface MailMessage {
  to: { name: string; address: string }
  subject: string
  text: string
  html: string
  /** The local part of the `Message-ID` (RFC 5322 §3.6.4): the same for every attempt to send the same mail. */
  id: string
  /** Where a POST turns off such mail, without a sign-in (RFC 2369 and RFC 8058). Only for notices. */
  unsubscribeUrl?: string
}

export interface Mailer {
  /**
   * Sends a mail. Returns the code of the server's answer, or null if the mail was written to a file. Throws a `MailError` if
   * the server does not accept it; the caller may retry.
   */
  send(message: MailMessage): Promise<{ smtpCode: number | null }>
  close(): void
}

/** What a refusal says of the recipient (RFC 5321 §4.2.3, RFC 3463 §3.2). */
export type RecipientRefusal =
  /** There is no such address: 550 or 553 to RCPT, with the enhanced code 5.1.x. */
  | 'unknown'
  /** The same without an enhanced code: the address, or a server that refuses everybody. */
  | 'unclear'
  /** Anything else, which may change: a policy, a full mailbox, a server that is down. */
  | 'none'

/** A mail was not accepted. */
export class MailError extends Error {
  override readonly name = 'MailError'
  /** The code of the answer; null if there was none. */
  readonly smtpCode: number | null
  readonly refusal: RecipientRefusal

  constructor(cause: Error, answer: { smtpCode: number | null; refusal: RecipientRefusal }) {
    super(cause.message, { cause })
    this.smtpCode = answer.smtpCode
    this.refusal = answer.refusal
  }
}
