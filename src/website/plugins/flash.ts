import fastifyPlugin from 'fastify-plugin'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { flashKey, flashLifetimeMs, type FlashesService } from '../../forms/flashes.service.ts'
import { measureError } from '../../http/answers/measuring.ts'
import type { App } from '../../http/app-types.ts'
import { errors, type ApiError } from '../../kernel/errors.ts'
import { seal, unseal } from '../../kernel/sealing.ts'
import { createToken } from '../../kernel/tokens.ts'
import { emptyForm, type FormState } from '../components/forms.ts'
import { valuesOf } from '../components/sent-form.ts'
import { readQuery } from '../components/lists.ts'
import type { Notice } from '../components/notice.ts'
import { flashCookie } from './web-session.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** What the redirect to this page left for it. Only on routes of the website. */
    flash: Flash
  }
  interface FastifyReply {
    /** Redirects to a page, which reads the flash from `request.flash`. */
    redirectWith(path: string, flash: Partial<Flash>): Promise<FastifyReply>
    /** Redirects to the page of a form, which shows it again with what was typed and the error. */
    refuse(path: string, error: ApiError): Promise<FastifyReply>
    /**
     * Keeps the form of a person whose session has ended. Returns the path of its page, which shows it again after the
     * same person has signed in; undefined if there was no such session, or if the form did not come from our page.
     */
    keepForSignIn(): Promise<string | undefined>
    /** Keeps a flash, for another session if one has just begun. Returns the path with the parameter that names it. */
    keepFlash(
      path: string,
      flash: Partial<Flash>,
      session?: Pick<FastifyRequest['visit'], 'sessionId' | 'secret'>,
    ): Promise<string>
  }
}

/** What a redirect leaves for the page that it leads to (docs/design/forms.md#answers-are-redirects). */
export interface Flash {
  /** The form that was refused, or what the page is about. Reloading the page shows it again, for ten minutes. */
  state: FormState
  /** Whether the page shows the error of the refused form, in the form or elsewhere. Views set it (`noteShown`). */
  isErrorShown?: boolean
  /** Whether the page shows the refused form, with what was typed. */
  isFormShown?: boolean
  /** Texts that are shown once, such as a new API key. Empty if there are none, or if they have been shown. */
  shown: Record<string, string>
  /** What the form has done, which is also shown once. */
  notice: Notice | undefined
}

/** A flash as it is stored: an error by its code, with its message and the time when it ends. */
interface StoredFlash {
  action?: string | undefined
  values: Record<string, string>
  error?: { code: string; message?: string; field: string | null; endsAt: number | null }
  shown: Record<string, string>
  notice?: Notice | undefined
}

const emptyFlash: Flash = { state: emptyForm, shown: {}, notice: undefined }
const parameter = 'flash'
// Browsers accept cookies of 4,096 bytes (RFC 6265 §6.1).
const cookieBytesMax = 3_500

/** Adds `request.flash`, `reply.redirectWith` and `reply.refuse` to the pages of the website. */
export const flash = fastifyPlugin(
  async (app: App, { flashes }: { flashes: FlashesService }) => {
    app.decorateRequest('flash', null as unknown as Flash)
    app.addHook('onRequest', async (request) => {
      request.flash = emptyFlash
    })
    // After the hooks that lead elsewhere, such as to a proof: what is shown once is still there when the person comes back.
    app.addHook('preHandler', async (request, reply) => {
      if (request.method === 'GET') request.flash = await readFlash(request, reply)
    })

    app.decorateReply('keepFlash', async function (this: FastifyReply, path, left, session) {
      const stored = toStored({ ...emptyFlash, ...left })
      const { sessionId, secret } = session ?? this.request.visit
      const id =
        sessionId === undefined
          ? keepInCookie(this, stored)
          : await flashes.keep({ sessionId, token: secret }, JSON.stringify(stored), {
              isOnce: isOnce(stored),
            })
      return withFlash(path, id)
    })
    app.decorateReply('keepForSignIn', async function (this: FastifyReply) {
      const { referringPage, formerToken } = this.request.visit
      if (referringPage === undefined || formerToken === undefined) return undefined
      const state = stateOfRefused(this.request, errors.sessionEnded())
      const id = await flashes.keepOfEnded(formerToken, JSON.stringify(toStored({ ...emptyFlash, state })))
      return id === undefined ? undefined : withFlash(referringPage, id)
    })
    app.decorateReply('redirectWith', async function (this: FastifyReply, path, left) {
      return this.redirect(await this.keepFlash(path, left), 303)
    })
    app.decorateReply('refuse', async function (this: FastifyReply, path, error) {
      const { request } = this
      request.log.info({ code: error.code }, 'form refused')
      measureError(request, error.code)
      return this.redirectWith(path, { state: stateOfRefused(request, error) })
    })

    async function readFlash(request: FastifyRequest, reply: FastifyReply): Promise<Flash> {
      const id = readQuery(request, parameter)
      if (id === '') return emptyFlash
      const { formerToken, sessionId, secret } = request.visit
      if (sessionId === undefined) return readCookie(request, reply, id)
      const reader = { sessionId, token: secret, userId: request.principal.user.id, formerToken }
      const text = await flashes.find(reader, id)
      return text === undefined ? emptyFlash : toFlash(JSON.parse(text) as StoredFlash)
    }
  },
  { name: 'flash', dependencies: ['web-session'] },
)

function withFlash(path: string, id: string): string {
  const url = new URL(path, 'http://local.invalid')
  url.searchParams.set(parameter, id)
  return url.pathname + url.search + url.hash
}

function stateOfRefused(request: FastifyRequest, error: ApiError): FormState {
  const [action] = request.url.split('?')
  return { action, values: valuesOf(request), error }
}

/** Before a sign-in, a cookie has the flash: strangers store nothing (docs/design/limits.md#what-strangers-store). */
function keepInCookie(reply: FastifyReply, stored: StoredFlash): string {
  const id = createToken()
  const key = flashKey(reply.request.visit.secret)
  const toCookie = (kept: StoredFlash) => seal(JSON.stringify({ id, ...kept }), key).toString('base64url')
  const whole = toCookie(stored)
  const value = whole.length <= cookieBytesMax ? whole : toCookie({ ...stored, values: {} })
  reply.remember(flashCookie, value, flashLifetimeMs / 1000)
  return id
}

function readCookie(request: FastifyRequest, reply: FastifyReply, id: string): Flash {
  const kept = request.visit.recall(flashCookie)
  if (kept === undefined) return emptyFlash
  try {
    const text = unseal(Buffer.from(kept, 'base64url'), flashKey(request.visit.secret))
    const stored = JSON.parse(text) as StoredFlash & { id: string }
    if (stored.id !== id) return emptyFlash
    if (isOnce(stored)) reply.remember(flashCookie, undefined)
    return toFlash(stored)
  } catch {
    // It was altered in the browser, or is of an earlier visitor.
    return emptyFlash
  }
}

function isOnce({ shown, notice }: StoredFlash): boolean {
  return Object.keys(shown).length > 0 || notice !== undefined
}

function toStored({ state: { action, values, error }, shown, notice }: Flash): StoredFlash {
  const seconds = error?.retryAfterSeconds
  return {
    action,
    values,
    shown,
    notice,
    ...(error && {
      error: {
        code: error.code,
        message: error.message,
        field: error.field,
        endsAt: seconds === undefined ? null : Date.now() + seconds * 1000,
      },
    }),
  }
}

function toFlash({ action, values, error, shown, notice }: StoredFlash): Flash {
  return { state: { action, values, error: error && toError(error) }, shown, notice }
}

function toError({ code, message, field, endsAt }: NonNullable<StoredFlash['error']>): ApiError | undefined {
  const create = Object.values(errors).find((factory) => factory.code === code)
  return create?.({
    ...(message !== undefined && { message }),
    ...(field !== null && { field }),
    ...(endsAt !== null && { retryAfterSeconds: Math.max(Math.ceil((endsAt - Date.now()) / 1000), 1) }),
  })
}
