const pieceSeparator = ', \n '
const evidenceStart = '"evidence":['

/** A seed of a kit as PostgreSQL made it, apart from its evidence. */
export interface KitSeedText {
  /** The seed as JSON, without evidence. */
  bare: string
  /** Its pieces of evidence as JSON, the newest first. */
  pieces: string[]
}

/**
 * Takes a seed of `readKitRows` apart. In JSON a string contains neither a line feed nor a quote that is not escaped, so
 * that no text of people is taken for what separates.
 */
export function splitSeed(text: string): KitSeedText {
  const start = text.indexOf(evidenceStart) + evidenceStart.length
  const pieces = text.slice(start, -']}'.length)
  return {
    bare: `${text.slice(0, start)}]}`,
    pieces: pieces === '' ? [] : pieces.split(pieceSeparator),
  }
}

/** A seed with the given pieces of evidence. */
export function joinSeed(bare: string, pieces: readonly string[]): string {
  return `${bare.slice(0, -']}'.length)}${pieces.join(',')}]}`
}

/** Items as a JSON array. */
export function joinItems(items: readonly string[]): string {
  return `[${items.join(',')}]`
}

/** Counts the leading items that fit into `bytesMax` bytes as items of one JSON array. */
export function countFitting(items: readonly string[], bytesMax: number): number {
  let left = bytesMax
  const excess = items.findIndex((item) => (left -= Buffer.byteLength(item) + 1) < 0)
  return excess === -1 ? items.length : excess
}
