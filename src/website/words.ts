import type { ApiError } from '../kernel/errors.ts'
import { html, type Html } from './html.ts'

const dateFormat = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' })
const timeFormat = new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'medium',
  timeStyle: 'short',
  timeZone: 'UTC',
})

/** A day, in words. */
export function renderDate(timestamp: string): Html {
  return html`<time datetime="${timestamp}">${dateFormat.format(new Date(timestamp))}</time>`
}

/** A time, in words. */
export function renderTime(timestamp: string): Html {
  return html`<time datetime="${timestamp}">${timeFormat.format(new Date(timestamp))} UTC</time>`
}

/** As many things, with the word for them. */
export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}

/** What an error says to people: with the time to wait, where there is one. */
export function describeError({ message, retryAfterSeconds }: ApiError): string {
  if (retryAfterSeconds === undefined) return message
  const [count, unit] =
    retryAfterSeconds < 120 ? [retryAfterSeconds, 'second'] : [Math.ceil(retryAfterSeconds / 60), 'minute']
  return `${message.replace(/ Try again later\.$/, '')} Try again in ${count} ${unit}${count === 1 ? '' : 's'}.`
}
