/** How many colors pictures without an image have. public/site.css has them, as `hue-0` to `hue-7`. */
export const hueCount = 8

/** The color of a person or a workspace, by the id: the same on every page. The last digits of an id are random. */
export function hueOf(id: string): number {
  return Number.parseInt(id.slice(-2), 16) % hueCount
}
