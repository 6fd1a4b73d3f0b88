import { styleText } from 'node:util'
import stringWidth from 'string-width'
import type { LimitOptions, OutputOptions } from './command.ts'

/** Prints the outcome of a command: a value as JSON, or lines for people. */
export function print({ json }: OutputOptions, value: unknown, lines: readonly string[]): void {
  process.stdout.write(
    json ? formatJson(value, process.stdout.isTTY) : lines.map((line) => `${line}\n`).join(''),
  )
}

/** Prints what is not the outcome itself, so that the outcome can be captured. JSON stands alone. */
export function printNote({ json }: OutputOptions, text: string): void {
  if (!json) process.stderr.write(`${text}\n`)
}

/** A column of a table. Null is shown as a hyphen. */
export interface Column<T> {
  title: string
  valueOf: (item: T) => string | number | null
}

/** Prints a list as a table with a line that counts, or as a JSON array. */
export function printList<T>(
  options: OutputOptions & Partial<LimitOptions>,
  list: { items: readonly T[]; total: number; noun: string },
  columns: readonly Column<T>[],
): void {
  const { items, total, noun } = list
  const isCut = items.length < total
  const count = isCut
    ? `Showing ${items.length} of ${countOf(total, noun)}. Use --limit 0 to show all.`
    : `${countOf(total, noun)}.`
  // An array that was cut must not pass for the whole list.
  if (options.json && isCut) process.stderr.write(`${count}\n`)
  print(options, items, items.length === 0 ? [`No ${noun}s.`] : [...formatTable(items, columns), '', count])
}

/** Lines of a table, the columns as wide as what is in them. */
export function formatTable<T>(items: readonly T[], columns: readonly Column<T>[]): string[] {
  const header = columns.map(({ title }) => title)
  const rows = items.map((item) => columns.map(({ valueOf }) => toVisible(String(valueOf(item) ?? '-'))))
  const widths = columns.map((_, i) => Math.max(...[header, ...rows].map((row) => stringWidth(row[i] ?? ''))))
  const format = (row: readonly string[]) =>
    row
      .map((cell, i) => cell + ' '.repeat((widths[i] ?? 0) - stringWidth(cell)))
      .join('  ')
      .trimEnd()
  return [styleText('bold', format(header), { stream: process.stdout }), ...rows.map(format)]
}

/** A time as people read it, to the minute, in UTC. */
export function formatTime(time: string | Date | null): string | null {
  if (time === null) return null
  return new Date(time).toISOString().slice(0, 16).replace('T', ' ')
}

/** `1 user`, `2 users`. */
export function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

// What terminals obey or hide: control characters, among them those that begin escape sequences, and format characters,
// which turn text around. Joiners are left: emoji and some scripts are written with them.
const unsafe = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu

/** A text that somebody has written, as a terminal may show it: what it would obey is spelled out, as `\u{1b}`. */
export function toVisible(text: string): string {
  return text.replace(unsafe, (character) => `\\u{${character.codePointAt(0)?.toString(16) ?? ''}}`)
}

/** JSON that a terminal may show as well. */
export function formatJson(value: unknown, isForPeople: boolean): string {
  const text = JSON.stringify(value, null, isForPeople ? 2 : undefined)
  const lines = text.split('\n').map((line) =>
    line.replace(unsafe, (character) =>
      Array.from({ length: character.length }, (_, i) => {
        const code = character.charCodeAt(i).toString(16).padStart(4, '0')
        return `\\u${code}`
      }).join(''),
    ),
  )
  return `${lines.join('\n')}\n`
}
