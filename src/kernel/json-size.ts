/** The size of a value as JSON, in bytes. */
export function jsonBytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value))
}

/** The number of UTF-16 units that are serialized before the event loop runs other work. */
const sliceUnits = 64 * 1024

/**
 * Counts the leading items that fit into `bytesMax` bytes as items of one JSON array. Texts must be such as the service
 * stores: no control characters but line breaks and tabs. Yields to the event loop between slices.
 */
export async function countFitting(items: readonly unknown[], bytesMax: number): Promise<number> {
  if (isSmallAsJson(items, bytesMax)) return items.length
  let left = bytesMax
  let units = 0
  for (const [i, item] of items.entries()) {
    const text = JSON.stringify(item)
    left -= Buffer.byteLength(text) + 1
    if (left < 0) return i
    units += text.length
    if (units > sliceUnits) units = await pause()
  }
  return items.length
}

/**
 * Whether items certainly fit into `bytesMax` bytes as a JSON array. An estimate by lengths: false for some that fit.
 */
function isSmallAsJson(items: readonly unknown[], bytesMax: number): boolean {
  // A UTF-16 unit takes at most three bytes in UTF-8.
  let units = 0
  for (const item of items) units += unitsOf(item) + 1
  return units * 3 <= bytesMax
}

const scalarUnitsMax = 24

function unitsOf(value: unknown): number {
  if (typeof value === 'string') return value.length + 2
  if (typeof value !== 'object' || value === null) return scalarUnitsMax
  let units = 2
  if (Array.isArray(value)) for (const item of value) units += unitsOf(item) + 1
  else for (const [name, field] of Object.entries(value)) units += name.length + 4 + unitsOf(field)
  return units
}

function pause(): Promise<number> {
  return new Promise((resolve) => setImmediate(resolve, 0))
}
