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
  /** Sends a mail. Throws if the server does not accept it; the caller may retry. */
  send(message: MailMessage): Promise<void>
  close(): void
}
