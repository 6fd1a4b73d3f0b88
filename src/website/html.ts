/** Markup that may be sent as it is. Only `html` makes it: everything else is text, and escaped. */
export class Html {
  readonly #markup: string

  constructor(markup: string) {
    this.#markup = markup
  }

  toString(): string {
    return this.#markup
  }
}

/** What may stand in a template: text is escaped, nothing and `false` leave nothing behind, lists stand one by one. */
export type Content = Html | string | number | null | undefined | false | readonly Content[]

/**
 * A template whose values are escaped, for text and for attributes in double quotes. A value that is markup already has
 * come through here as well, so that forgetting anything shows tags to people, and runs none.
 */
export function html(strings: TemplateStringsArray, ...values: Content[]): Html {
  let markup = strings[0] ?? ''
  for (const [i, value] of values.entries()) markup += toMarkup(value) + (strings[i + 1] ?? '')
  return new Html(markup)
}

function toMarkup(value: Content): string {
  if (value === null || value === undefined || value === false) return ''
  if (value instanceof Html) return value.toString()
  if (typeof value === 'string' || typeof value === 'number') return escapeText(String(value))
  return value.map(toMarkup).join('')
}

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escapeText(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character)
}
