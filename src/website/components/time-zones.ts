const zoneLengthMax = 50

/** Whether a text names a time zone of the IANA database, such as `Europe/Berlin`. */
export function isTimeZone(text: string): boolean {
  if (text === '' || text.length > zoneLengthMax) return false
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

/** The first moment of a day (`YYYY-MM-DD`) in a time zone, in UTC without one, as a timestamp. */
export function startOfDay(day: string, zone: string): string {
  const midnight = Date.parse(`${day}T00:00:00Z`)
  if (zone === '') return new Date(midnight).toISOString()
  // The offset of a moment close by, then that of the moment itself: clocks may be set in between.
  const near = midnight - offsetMs(midnight, zone)
  return new Date(midnight - offsetMs(near, zone)).toISOString()
}

/** How far the clocks of a time zone are ahead of UTC at a moment. */
function offsetMs(at: number, timeZone: string): number {
  const format = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' })
  const name = format.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? ''
  const [, sign = '+', hours = '0', minutes = '0'] = /GMT([+-])(\d\d):(\d\d)/.exec(name) ?? []
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000
}
