import { html, type Content } from '../components/html.ts'

/** The scripts that put no spaces between words. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Khmer}\p{Script=Lao}\p{Script=Myanmar}]/u

const wordsMax = 16

/**
 * A text with the words of a search marked, whatever their case and accents: where words begin with them, or anywhere in
 * scripts that put no spaces between words. What was found by another form of a word stays unmarked.
 */
export function markWords(text: string, q: string): Content {
  const words = (fold(q).match(/[\p{L}\p{N}]+/gu) ?? []).slice(0, wordsMax)
  if (words.length === 0) return text
  // The longest first, as an alternation takes the first that matches.
  const patterns = words
    .toSorted((a, b) => b.length - a.length)
    .map((word) => (unspaced.test(word) ? word : `(?<![\\p{L}\\p{N}])${word}`))
  const characters = Array.from(text)
  const folded = characters.map(fold)
  // The character that each place of the folded text is of.
  const places = folded.flatMap((part, i) => Array.from({ length: part.length }, () => i))
  const parts: Content[] = []
  let end = 0
  for (const { index, 0: found } of folded.join('').matchAll(new RegExp(patterns.join('|'), 'gu'))) {
    const from = Math.max(places[index] ?? 0, end)
    let to = (places[index + found.length - 1] ?? 0) + 1
    // With the accents that follow.
    while (folded[to] === '') to++
    parts.push(
      characters.slice(end, from).join(''),
      html`<mark>${characters.slice(from, to).join('')}</mark>`,
    )
    end = to
  }
  return [...parts, characters.slice(end).join('')]
}

function fold(text: string): string {
  return text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase()
}
