import { Type } from '@sinclair/typebox'
import type { FastifyReply } from 'fastify'
import type { App } from '../../http/app-types.ts'
import { publicAccess } from '../../http/credentials/route-guard.ts'
import { ApiError } from '../../kernel/errors.ts'
import type { Services } from '../../services/services.ts'
import { html } from '../components/html.ts'

const bodyBytesMax = 4096

interface UnsubscribeRoute {
  Params: { token: string }
}

/**
 * The link in mails about workspaces that turns them off, without a sign-in: the token of the link is the proof. Mail
 * programs send `List-Unsubscribe=One-Click` to it, from no session and as no form of ours, and follow no redirect
 * (RFC 8058 §3.1); people open it, and press the button of the page. Opening it changes nothing, since programs that look
 * for malware open the links of mails too.
 */
export async function unsubscribePages(
  app: App,
  { notifications }: Pick<Services, 'notifications'>,
): Promise<void> {
  await app.register(publicAccess)
  // Of any type: RFC 8058 §3.2 allows two, and no part of the body matters but that mail programs send one.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'string', bodyLimit: bodyBytesMax }, (_request, body, done) => {
    done(null, body)
  })
  const path = '/unsubscribe/:token'
  const schema = { hide: true }

  app.get<UnsubscribeRoute>(path, { schema }, async ({ params }, reply) => {
    const isSubscribed = await notifications.isSubscribed(params.token)
    if (isSubscribed === undefined) return showInvalid(reply)
    return reply.showPage({
      title: 'Email settings',
      body: isSubscribed
        ? html`<h1>Turn off emails?</h1>
            <p>
              You get emails about your workspaces: mentions, a daily digest, changes of your role, and
              accepted invites.
            </p>
            <form method="post"><button>Turn off these emails</button></form>`
        : html`<h1>Emails are off</h1>
            <p role="status">You get no more emails about your workspaces.</p>
            <p>
              Everything is still in your <a href="/notifications">notifications</a>. You can turn the emails
              on again in your <a href="/settings/notifications">settings</a>.
            </p>`,
    })
  })

  // Of no form of ours.
  const ofAnyForm = { schema: { ...schema, body: Type.Unknown() }, config: { openBody: true } }
  app.post<UnsubscribeRoute>(path, ofAnyForm, async ({ body, params, url }, reply) => {
    try {
      await notifications.unsubscribe(params.token)
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'not_found') throw error
      return showInvalid(reply)
    }
    const isOneClick = typeof body === 'string' && body.includes('One-Click')
    return isOneClick
      ? reply.type('text/plain; charset=utf-8').send('Unsubscribed.\n')
      : reply.redirect(url, 303)
  })
}

function showInvalid(reply: FastifyReply): FastifyReply {
  return reply.showPage({
    title: 'Invalid link',
    status: 404,
    body: html`<h1>This link is invalid</h1>
      <p>
        It may have been cut off. Sign in to change which emails you get, in your
        <a href="/settings/notifications">settings</a>.
      </p>`,
  })
}
