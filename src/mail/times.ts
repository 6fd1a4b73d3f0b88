const timeFormat = new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'long',
  timeStyle: 'short',
  timeZone: 'UTC',
})
const relativeFormat = new Intl.RelativeTimeFormat('en-GB')

const minuteMs = 60 * 1000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

/** A time, such as `29 November 2026 at 22:44 UTC`. */
export function formatTime(time: Date): string {
  return `${timeFormat.format(time)} UTC`
}

/** A time from now, such as `in 7 days, on 29 November 2026 at 22:44 UTC`. */
export function describeTime(time: Date, now: Date): string {
  const leftMs = time.getTime() - now.getTime()
  const on = `on ${formatTime(time)}`
  // The mail was sent late.
  if (leftMs <= 0) return on
  const [length, unit] =
    leftMs >= 2 * dayMs
      ? ([dayMs, 'day'] as const)
      : leftMs >= 2 * hourMs
        ? ([hourMs, 'hour'] as const)
        : ([minuteMs, 'minute'] as const)
  return `${relativeFormat.format(Math.round(leftMs / length), unit)}, ${on}`
}

const units: [name: string, lengthMs: number][] = [
  ['day', dayMs],
  ['hour', hourMs],
  ['minute', minuteMs],
]

/** A duration in the largest unit that it is a whole number of, such as `24 hours`; in days from two on. */
export function formatDuration(durationMs: number): string {
  const [name, lengthMs] = units.find(
    ([, length]) => durationMs % length === 0 && (length < dayMs || durationMs > dayMs),
  ) ?? ['second', 1000]
  const count = Math.ceil(durationMs / lengthMs)
  return `${count} ${name}${count === 1 ? '' : 's'}`
}
