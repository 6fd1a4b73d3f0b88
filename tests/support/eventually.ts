import { vi } from 'vitest'
import { patientMs } from './patient-limits.ts'

/** The one way in which tests wait for what comes by itself. A wait ends as soon as it is there. */
const options = { timeout: patientMs, interval: 20 }

/** Waits until a function no longer throws, such as an assertion. Returns what it returns, or throws its last error. */
export function eventually<T>(attempt: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(attempt, options)
}

/** Waits until a condition holds. Returns its value. */
export function untilTrue<T>(condition: () => T | Promise<T>): Promise<NonNullable<T>> {
  return eventually(async () => {
    const value = await condition()
    if (!value) throw new Error(`this did not come true: ${String(condition)}`)
    return value
  })
}
