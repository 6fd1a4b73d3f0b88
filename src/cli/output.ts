import { styleText } from 'node:util'
import stringWidth from 'string-width'
import type { LimitOptions, OutputOptions } from './command.ts'

/** Prints the outcome of a command: a value as JSON, or lines for people. */
export function print({ json }: OutputOptions, value: unknown, lines: readonly string[]): void {
  process.stdout.write(
    json ? formatJson(value, process.stdout.isTTY) : lines.map((line) => `${line}\n`).join(''),
  )
}

/** Prints a note on standard error, so that the outcome can be captured. Prints nothing with `--json`. */
export function printNote({ json }: OutputOptions, text: string): void {
  if (!json) process.stderr.write(`${text}\n`)
}

/** A column of a table. Null is shown as a hyphen. */
export interface Column<T> {
  title: string
  valueOf: (item: T) => string | number | null
}

/** Prints a list as a table with a line for the total, or as a JSON array. */
export function printList<T>(
  options: OutputOptions & Partial<LimitOptions>,
  list: { items: readonly T[]; total: number; noun: string },
  columns: readonly Column<T>[],
): void {
  const { items, total, noun } = list
  const isTruncated = items.length < total
  const count = isTruncated
    ? `Showing ${items.length} of ${countOf(total, noun)}. Use --limit 0 to show all.`
    : `${countOf(total, noun)}.`
  // A truncated array must not be taken for the whole list.
  if (options.json && isTruncated) process.stderr.write(`${count}\n`)
  print(options, items, items.length === 0 ? [`No ${noun}s.`] : [...formatTable(items, columns), '', count])
}

/** The lines of a table, with columns as wide as their widest cell. */
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

/** A time to the minute, in UTC. */
export function formatTime(time: string | Date | null): string | null {
  if (time === null) return null
  return new Date(time).toISOString().slice(0, 16).replace('T', ' ')
}

/** `1 user`, `2 users`. */
export function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

// Control characters, which begin escape sequences, and format characters, which may reverse text. Joiners are safe:
// emoji and some scripts need them.
const unsafe = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu

/** Makes untrusted text safe for a terminal: escapes unsafe characters, as `\u{1b}`. */
export function toVisible(text: string): string {
  return text.replace(unsafe, (character) => `\\u{${character.codePointAt(0)?.toString(16) ?? ''}}`)
}

/** JSON that is safe for a terminal. */
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
