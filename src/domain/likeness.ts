/** Accents, vowel signs and the Arabic lengthening, which do not matter. */
const marks = /[\p{Mn}\u0640]/gu
const notOfWords = /[^\p{L}\p{N}]+/u

/**
 * Tells how alike other titles are to one, from 0 to 1, whatever their script: by the pairs of characters that follow each
 * other in their words, and the beginnings and ends of those. A short title that is a part of a long one is like it too.
 */
export function likenessTo(one: string): (other: string) => number {
  const pairs = pairsOf(one)
  return (other) => {
    const others = pairsOf(other)
    const least = Math.min(pairs.size, others.size)
    if (least === 0) return 0
    const shared = [...pairs].filter((pair) => others.has(pair)).length
    return shared / (pairs.size + others.size) + shared / (2 * least)
  }
}

/** From when on titles are similar: below it are those that share common words, or an ending. */
export const likenessMin = 0.4

function pairsOf(title: string): Set<string> {
  const words = title.normalize('NFKD').replace(marks, '').toLowerCase().split(notOfWords)
  const pairs = words
    .filter((word) => word !== '')
    .flatMap((word) => {
      const letters = [' ', ...Array.from(word), ' ']
      return letters.slice(1).map((letter, i) => `${letters[i]}${letter}`)
    })
  return new Set(pairs)
}
