import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from '../db/client.ts'
import type { Clock } from '../kernel/clock.ts'
import { errors } from '../kernel/errors.ts'
import { hashSecret } from '../kernel/tokens.ts'
import {
  deleteSentForm,
  findSentForm,
  insertSentForm,
  setLocation,
  type SentFormKey,
} from './sent-forms.repository.ts'

/**
 * Makes each form of a session take effect once, however often it is sent (docs/design/forms.md#answers-are-redirects).
 */
export interface SentFormsService {
  /**
   * Runs the action of a form, which returns the path to redirect to. If the same form was sent before, returns the path
   * that it led to, and waits for it while the form is being handled. `form` is the form with all its fields, its token
   * among them. A form whose action throws may be sent again. Throws `form_sent` if the first result is unknown.
   */
  runOnce(sessionId: string, form: string, run: () => Promise<string>): Promise<string>
}

const rememberedMs = 10 * 60 * 1000
const waitMs = 2_500
const askedEveryMs = 100

export function createSentFormsService({ db, clock }: { db: Database; clock: Clock }): SentFormsService {
  async function waitForLocation(key: SentFormKey): Promise<string> {
    for (let waitedMs = 0; waitedMs < waitMs; waitedMs += askedEveryMs) {
      const sent = await findSentForm(db, key)
      // The first one was refused, or the session has ended.
      if (!sent) break
      if (sent.location !== null) return sent.location
      await delay(askedEveryMs)
    }
    throw errors.formSent()
  }

  return {
    async runOnce(sessionId, form, run) {
      const key = { formHash: hashSecret(form), sessionId }
      const expiresAt = new Date(clock.now().getTime() + rememberedMs)
      if (!(await insertSentForm(db, { ...key, expiresAt }))) return waitForLocation(key)
      let location: string
      try {
        location = await run()
      } catch (error) {
        await deleteSentForm(db, key)
        throw error
      }
      await setLocation(db, key, location)
      return location
    },
  }
}
