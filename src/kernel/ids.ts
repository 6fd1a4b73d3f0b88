import { v7, validate, version } from 'uuid'

/** The most ids that a list can be filtered by. */
export const filterIdsMax = 100

/** Creates an id: a UUIDv7 (RFC 9562 §5.7), so that newer rows sort later and index pages stay dense. */
export function createId(): string {
  return v7()
}

/** Whether a string has the form of an id. PostgreSQL raises an error when a `uuid` is compared with other text. */
export function isId(value: string): boolean {
  return validate(value) && version(value) === 7 && value === value.toLowerCase()
}
