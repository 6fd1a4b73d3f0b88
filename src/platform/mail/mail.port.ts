/** A mail to one person. */
export interface MailMessage {
  to: { name: string; address: string }
  subject: string
  text: string
  html: string
  /** The local part of the `Message-ID` (RFC 5322 §3.6.4): the same for every attempt to send the same mail. */
  id: string
  /** Where the person can turn such mail off (RFC 2369); on notices. */
  unsubscribeUrl?: string
}

export interface Mailer {
  /** Hands a mail over for delivery, or throws: then it may be tried again. */
  send(message: MailMessage): Promise<void>
  close(): void
}
