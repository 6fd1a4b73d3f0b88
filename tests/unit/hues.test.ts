import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { createId } from '../../src/kernel/ids.ts'
import { hueCount, hueOf } from '../../src/website/components/hues.ts'

const css = readFileSync('public/site.css', 'utf8')

it('gives an id the same color each time, and all colors to many ids', () => {
  const id = createId()
  expect(hueOf(id)).toBe(hueOf(id))
  const counts = new Map<number, number>()
  for (let i = 0; i < 4_000; i++) {
    const hue = hueOf(createId())
    counts.set(hue, (counts.get(hue) ?? 0) + 1)
  }
  expect([...counts.keys()].toSorted()).toEqual(Array.from({ length: hueCount }, (_, i) => i))
  for (const count of counts.values()) expect(count).toBeGreaterThan(300)
})

// WCAG 2.2, success criterion 1.4.3.
it('has a contrast of at least 4.5 in all colors, light and dark', () => {
  const rule = /\[class\*='hue-'\] \{([^}]*)\}/.exec(css)?.[1] ?? ''
  const colors = [...rule.matchAll(/hsl\(var\(--hue\) (\d+)% (\d+)%\)/g)].map(([, s, l]) => [
    Number(s),
    Number(l),
  ])
  const [lightGround, darkGround, lightText, darkText] = colors
  const hues = [...css.matchAll(/\.hue-\d \{\s*--hue: (\d+);/g)].map(([, hue]) => Number(hue))
  expect(hues).toHaveLength(hueCount)
  for (const hue of hues) {
    for (const [ground, text] of [
      [lightGround, lightText],
      [darkGround, darkText],
    ]) {
      const [bright, dim] = [ground, text]
        .map(([s = NaN, l = NaN] = []) => luminanceOf(hue, s / 100, l / 100) + 0.05)
        .toSorted((a, b) => b - a)
      expect(Number(bright) / Number(dim), String(hue)).toBeGreaterThan(4.5)
    }
  }
})

/** The relative luminance of a color of sRGB. */
function luminanceOf(hue: number, saturation: number, lightness: number): number {
  const [red = 0, green = 0, blue = 0] = [0, 8, 4].map((n) => {
    const k = (n + hue / 30) % 12
    const value =
      lightness - saturation * Math.min(lightness, 1 - lightness) * Math.max(-1, Math.min(k - 3, 9 - k, 1))
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
