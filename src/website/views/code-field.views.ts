import { renderField, type FormState } from '../components/forms.ts'
import type { Html } from '../components/html.ts'

export const recoveryCodeLengthMax = 40

/** The field of a code of an authenticator app, or of a recovery code. */
export function renderCodeField(state: FormState): Html {
  return renderField({
    name: 'code',
    label: 'Code from your authenticator app',
    autocomplete: 'one-time-code',
    maxLength: recoveryCodeLengthMax,
    hint: 'A recovery code works too.',
    state,
  })
}
