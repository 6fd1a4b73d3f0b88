import { uploadBytesMax } from '../../http/requests/uploads.ts'
import type { ApiError } from '../../kernel/errors.ts'
import { html, type Html } from './html.ts'

const dateFormat = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' })
const timeFormat = new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'medium',
  timeStyle: 'short',
  timeZone: 'UTC',
})

const clockFormat = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short', timeZone: 'UTC' })
const dayFormat = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeZone: 'UTC' })

// Times are in UTC. public/site.js shows them in the zone and language of the reader, as `data-format` says.

/** The date of a timestamp. */
export function renderDate(timestamp: string): Html {
  const date = dateFormat.format(new Date(timestamp))
  return html`<time datetime="${timestamp}" data-format="date">${date}</time>`
}

/** A date of the calendar, such as `2026-11-21`, which is the same in every time zone. */
export function renderCalendarDate(date: string): Html {
  return html`<time datetime="${date}">${dateFormat.format(new Date(date))}</time>`
}

/** The date and time of a timestamp. */
export function renderTime(timestamp: string): Html {
  return html`<time datetime="${timestamp}" data-format="time"
    >${timeFormat.format(new Date(timestamp))} UTC</time
  >`
}

/** The time of day of a timestamp. */
export function renderClock(timestamp: string): Html {
  return html`<time datetime="${timestamp}" data-format="clock"
    >${clockFormat.format(new Date(timestamp))} UTC</time
  >`
}

/** The day of a timestamp, in UTC, such as `Sunday, 22 November 2026`. */
export function formatDay(timestamp: string): string {
  return dayFormat.format(new Date(timestamp))
}

/** A number with its unit, such as `1 member` or `2 members`. */
export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}

/** The maximum size of a picture, such as `5 MB`. */
export const pictureSizeMax = `${uploadBytesMax / 1024 / 1024} MB`

// Where the API's message is about a request body or an operation.
const messagesOfCode: Record<string, string> = {
  body_too_large: 'The text is too long.',
  file_missing: 'Choose a file.',
  route_not_found: 'No page has this address.',
}

/** The message of an error for people, with the time to wait if there is one. */
export function describeError(error: ApiError): string {
  const { code, field, retryAfterSeconds } = error
  const message =
    code === 'body_too_large' && field === 'file'
      ? `The picture is larger than ${pictureSizeMax}. Choose a smaller one.`
      : (messagesOfCode[code] ?? error.message)
  if (retryAfterSeconds === undefined) return message
  const wait =
    retryAfterSeconds < 120
      ? countOf(retryAfterSeconds, 'second')
      : countOf(Math.ceil(retryAfterSeconds / 60), 'minute')
  return `${message.replace(/ Try again later\.$/, '')} Try again in ${wait}.`
}
