import type { WebhookDisabledReason } from '../domain/webhooks.ts'
import { compose, type MailContent } from './compose.ts'
import { describeTime } from './times.ts'
import { noticeEnd } from './words.ts'

/** Tells a person that an API key of theirs expires soon. */
export function apiKeyExpiresMail(input: {
  name: string
  keyName: string
  lastFour: string
  expiresAt: Date
  now: Date
  keyUrl: string
}): MailContent {
  const { name, keyName, lastFour, expiresAt, now, keyUrl } = input
  return compose({
    subject: `Your API key ${keyName} expires soon`,
    paragraphs: [
      `Hello ${name}, your API key ${keyName}, which ends in ${lastFour}, expires ${describeTime(expiresAt, now)}.`,
      'From then on, programs that use it are refused. If you still need it, open the link below and choose a later date, ' +
        'or create another key for these programs.',
    ],
    link: { label: 'See the key', url: keyUrl },
    footer: 'If you no longer need the key, ignore this email. It stops working by itself.',
  })
}

/** Tells a person that a rotated API key of theirs works on, although the one that took its place was revoked. */
export function rotatedKeyWorksMail(input: {
  name: string
  keyName: string
  lastFour: string
  expiresAt: Date
  now: Date
  keysUrl: string
}): MailContent {
  const { name, keyName, lastFour, expiresAt, now, keysUrl } = input
  return compose({
    subject: `An older API key ${keyName} still works`,
    paragraphs: [
      `Hello ${name}, the newer of two API keys called ${keyName} was revoked. The older one, which ends in ${lastFour}, was rotated and still works. It expires ${describeTime(expiresAt, now)}.`,
      'If both should end now, open the link below and revoke it.',
    ],
    link: { label: 'See your API keys', url: keysUrl },
    footer: 'If programs still need the older key, ignore this email. It stops working by itself.',
  })
}

/** Tells a person that the access of an agent of theirs ended, because a token was used again. */
export function accessEndedMail(input: {
  name: string
  clientName: string
  workspaceName: string
  agentsUrl: string
}): MailContent {
  const { name, clientName, workspaceName, agentsUrl } = input
  return compose({
    subject: `${clientName} no longer has access to ${workspaceName}`,
    paragraphs: [
      `Hello ${name}, if you still use ${clientName}, connect it to the workspace ${workspaceName} again.`,
      `We ended its access because a code or token that it had already exchanged was used again. Either the program uses ` +
        'an old copy of its tokens, or someone else has a copy. If several programs share the tokens, check where they ' +
        'are stored.',
    ],
    link: { label: 'See the agents of the workspace', url: agentsUrl },
    footer: 'If you no longer use it, ignore this email. Those tokens no longer give access.',
  })
}

/** Tells a person that the access of an agent of theirs ends soon. */
export function accessEndsMail(input: {
  clientName: string
  workspaceName: string
  expiresAt: Date
  now: Date
  agentUrl: string
  settingsUrl: string
}): MailContent {
  const { clientName, workspaceName, expiresAt, now, agentUrl, settingsUrl } = input
  return compose({
    subject: `The access of ${clientName} to ${workspaceName} ends soon`,
    paragraphs: [
      `${clientName} can act for you in the workspace ${workspaceName}. This ends ${describeTime(expiresAt, now)}.`,
      'If you still use it, open the link below and prolong its access. You do not need to connect it again.',
    ],
    link: { label: 'See the agent', url: agentUrl },
    ...noticeEnd(settingsUrl, 'If you no longer use it, ignore this email: the access ends by itself.'),
  })
}

/** Tells an owner that a webhook of the workspace was disabled, and why. */
export function webhookDisabledMail(input: {
  name: string
  host: string
  reason: WebhookDisabledReason
  workspaceName: string
  webhookUrl: string
}): MailContent {
  const { name, host, reason, workspaceName, webhookUrl } = input
  const because: Record<WebhookDisabledReason, string> = {
    manual: 'someone disabled it',
    gone: 'its receiver answered that it is gone (410)',
    failing: 'nothing could be delivered to it for three days',
  }
  return compose({
    subject: `A webhook of ${workspaceName} was disabled`,
    paragraphs: [
      `Hello ${name}, check the receiver at ${host}, then open the link below and enable the webhook again.`,
      `The webhook of the workspace ${workspaceName} to ${host} was disabled, because ${because[reason]}. It gets no events ` +
        'until you enable it. Then you can send it the events that it missed.',
    ],
    link: { label: 'Open the webhook', url: webhookUrl },
    footer: 'You receive this email because you are an owner of the workspace.',
  })
}
