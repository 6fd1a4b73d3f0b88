import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../../http/app-types.ts'
import type { Services } from '../../services/services.ts'
import { answerForm, type FormResult, type SendOnce } from '../plugins/answer-form.ts'
import { form, readField } from '../components/sent-form.ts'
import type { Page } from '../plugins/pages.ts'
import { securityPath } from './security.views.ts'
import {
  renderRecoveryCodes,
  renderSetup,
  renderTwoStepOff,
  renderTwoStepOn,
  twoStepPath,
} from './two-step.views.ts'
import { provenOnly } from '../plugins/web-session.ts'
import { notice } from '../components/notice.ts'

/** Setting up two-step sign-in, new recovery codes, and turning it off. */
export async function twoStepPages(
  app: App,
  { secondFactor, sentForms }: Pick<Services, 'secondFactor' | 'sentForms'>,
): Promise<void> {
  await app.register(provenOnly, { page: twoStepPath })

  app.get(twoStepPath, async (request, reply) => reply.showPage(await show(request)))

  app.post(`${twoStepPath}/begin`, form, async (request, reply) => {
    await secondFactor.begin(request.principal)
    await reply.renewSession()
    return reply.redirect(twoStepPath, 303)
  })

  app.post(`${twoStepPath}/confirm`, form, async (request, reply) => {
    const confirm = async () =>
      toShown(await secondFactor.confirm(request.principal, readField(request, 'code')))
    return answerForm(request, reply, twoStepPath, confirm, onceIn(reply))
  })

  app.post(`${twoStepPath}/recovery-codes`, form, async (request, reply) => {
    const renew = async () => toShown(await secondFactor.renewRecoveryCodes(request.principal))
    return answerForm(request, reply, twoStepPath, renew, onceIn(reply))
  })

  app.post(`${twoStepPath}/remove`, form, async (request, reply) => {
    await secondFactor.remove(request.principal)
    await reply.renewSession()
    return reply.redirectWith(securityPath, { notice: notice`Two-step sign-in is off.` })
  })

  /** Makes a form take effect once. A repeated one gets the cookie of the renewed session too. */
  const onceIn = (reply: FastifyReply): SendOnce => ({
    async runOnce(...form) {
      const location = await sentForms.runOnce(...form)
      await reply.renewSession()
      return location
    },
  })

  async function show(request: FastifyRequest): Promise<Page> {
    const { codes } = request.flash.shown
    if (codes !== undefined) return renderRecoveryCodes(request, codes)
    const state = await secondFactor.state(request.principal)
    if (state.since !== null) return renderTwoStepOn(request, state)
    const setup = await secondFactor.findSetup(request.principal)
    return setup ? renderSetup(request, setup, await drawQrCode(setup.uri)) : renderTwoStepOff(request)
  }
}

/** The page shows the recovery codes once. */
function toShown(codes: readonly string[]): FormResult {
  return { path: twoStepPath, shown: { codes: codes.join('\n') } }
}

/** Draws a QR code as SVG, in a data URL. Loads the library on first use. */
async function drawQrCode(text: string): Promise<string> {
  const { default: QRCode } = await import('qrcode')
  const svg = await QRCode.toString(text, { type: 'svg', margin: 2 })
  return `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`
}
