// Outside these bounds a time has no four-digit year or is unknown to PostgreSQL. No row has a time outside them.
const timeMin = Date.UTC(1970, 0, 1)
const timeMax = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/** Parses an RFC 3339 time, clamped to the bounds. A leap second becomes the second before it. */
export function parseTime(text: string): Date {
  const time = Date.parse(text.replace(':60', ':59'))
  return new Date(Math.min(Math.max(timeMin, time), timeMax))
}

/** Whether a text is a date of the calendar with a year from 1000 to 9999, as `2026-11-21`. */
export function isDate(text: string): boolean {
  const time = Date.parse(text)
  return /^[1-9]\d{3}-\d\d-\d\d$/.test(text) && !Number.isNaN(time) && dateOf(new Date(time)) === text
}

/** The date of a time in UTC, as `2026-11-21`. */
export function dateOf(time: Date): string {
  return time.toISOString().slice(0, 10)
}
