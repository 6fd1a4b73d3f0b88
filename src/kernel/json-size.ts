/** How many bytes a value takes as JSON. */
export function jsonBytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value))
}

/**
 * How many of the items, from the first on, fit into a number of bytes as the items of one JSON array. Texts are those
 * that the service stores: without control characters but line breaks and tabs.
 */
export function countFitting(items: readonly unknown[], bytesMax: number): number {
  // Most answers are far below any bound. A UTF-16 unit becomes three bytes at most, so their lengths show it.
  let unitsMax = 0
  for (const item of items) unitsMax += unitsOf(item) + 1
  if (unitsMax * 3 <= bytesMax) return items.length
  let left = bytesMax
  const end = items.findIndex((item) => {
    left -= jsonBytesOf(item) + 1
    return left < 0
  })
  return end === -1 ? items.length : end
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
