import { escapeHtml } from '../../kernel/escape-html.ts'

/** Markup that is safe to send. Create it with `html` only, which escapes text. */
export class Html {
  readonly #markup: string

  constructor(markup: string) {
    this.#markup = markup
  }

  toString(): string {
    return this.#markup
  }
}

/** A value in a template. Text is escaped, lists are concatenated; null, undefined and false render nothing. */
export type Content = Html | string | number | null | undefined | false | readonly Content[]

/**
 * Renders a template. Escapes values for text and for attributes in double quotes, except `Html`, whose values were
 * escaped when it was created.
 */
export function html(strings: TemplateStringsArray, ...values: Content[]): Html {
  const texts = compact(strings)
  let markup = texts[0] ?? ''
  for (const [i, value] of values.entries()) markup += toMarkup(value) + (texts[i + 1] ?? '')
  return new Html(markup)
}

const compacted = new WeakMap<TemplateStringsArray, readonly string[]>()

/** The texts of a template without the indentation of the code, which was a third of some pages. */
function compact(strings: TemplateStringsArray): readonly string[] {
  const known = compacted.get(strings)
  if (known) return known
  const texts = strings.map((text) => text.replaceAll(/\n\s+/g, '\n'))
  compacted.set(strings, texts)
  return texts
}

function toMarkup(value: Content): string {
  if (value === null || value === undefined || value === false) return ''
  if (value instanceof Html) return value.toString()
  if (typeof value === 'string' || typeof value === 'number') return escapeHtml(String(value))
  return value.map(toMarkup).join('')
}
