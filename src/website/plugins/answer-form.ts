import type { FastifyReply, FastifyRequest } from 'fastify'
import type { SentFormsService } from '../../forms/sent-forms.service.ts'
import type { Flash } from './flash.ts'
import { attempt } from '../components/sent-form.ts'
import { keepQuery } from './referrer.ts'

/** Where a form leads: a path, or a path with what its page shows once. */
export type FormResult = string | ({ path: string } & Partial<Pick<Flash, 'shown' | 'notice'>>)

/** Makes the forms of signed-in people take effect once. */
export type SendOnce = Pick<SentFormsService, 'runOnce'>

/**
 * Runs the action of a form and redirects (docs/design/forms.md#answers-are-redirects). An error that the person can
 * correct redirects to the page of the form, `shownOn`, which shows it again. With `sendOnce`, the same form takes
 * effect once, however often it is sent.
 */
export async function answerForm(
  request: FastifyRequest,
  reply: FastifyReply,
  shownOn: string,
  run: () => Promise<FormResult>,
  sendOnce?: SendOnce,
): Promise<FastifyReply> {
  const { referringPage } = request.visit
  const finish = async () => {
    const result = await run()
    if (typeof result === 'string') return keepQuery(result, referringPage)
    const { path, ...left } = result
    return reply.keepFlash(keepQuery(path, referringPage), left)
  }
  const { result: location, error } = await attempt(() =>
    sendOnce ? sendOnce.runOnce(String(request.visit.sessionId), identify(request), finish) : finish(),
  )
  if (error) return reply.refuse(keepQuery(shownOn, referringPage), error)
  request.visit.isFormDone = true
  return reply.redirect(location, 303)
}

/** A form with all its fields. Its token is another one each time the page is shown. */
function identify({ url, body }: FastifyRequest): string {
  return JSON.stringify([url, body])
}
