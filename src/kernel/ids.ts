import { v7, validate, version } from 'uuid'

/** A new identifier: UUIDv7 (RFC 9562 §5.7), so that rows made later sort later and index pages stay dense. */
export function createId(): string {
  return v7()
}

/** Whether a string from outside can be an identifier at all. Asking the database for anything else would be an error. */
export function isId(value: string): boolean {
  return validate(value) && version(value) === 7 && value === value.toLowerCase()
}
