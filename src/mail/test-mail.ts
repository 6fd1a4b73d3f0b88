import { serviceName } from '../domain/service-name.ts'
import { compose, type MailContent } from './compose.ts'

/** The mail by which an operator tries the mail server. */
export function testMail(webUrl: string): MailContent {
  return compose({
    subject: `A test of ${serviceName}`,
    paragraphs: [`${serviceName} can send mails. An operator sent this one to try it.`],
    link: { label: `Open ${serviceName}`, url: webUrl },
    footer: 'If you did not expect this email, ignore it.',
  })
}
