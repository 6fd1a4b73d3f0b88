import { describe, expect, it } from 'vitest'
import { assertUsableSlug, isReservedSlug, isSlug, suggestSlug } from '../../src/domain/slugs.ts'
import { expectLinear } from '../support/expect-linear.ts'
import { startTestApp } from '../support/test-app.ts'

describe('isSlug', () => {
  it.each(['abc', '0-9', 'a1b2', 'a-b-c', '123', 'x'.repeat(48)])('accepts %s', (slug) => {
    expect(isSlug(slug)).toBe(true)
  })

  it.each([
    '',
    'ab',
    'x'.repeat(49),
    'ABC',
    'a--b',
    '-ab',
    'ab-',
    'a_b',
    'a b',
    'a.b',
    'äbc',
    'abc\n',
    '\u0000abc',
  ])('rejects %j', (slug) => {
    expect(isSlug(slug)).toBe(false)
  })

  it('rejects long text in time in proportion to its length', () =>
    expectLinear((length) => expect(isSlug(`${'a-'.repeat(length / 2)}!`)).toBe(false), 50_000))
})

describe('isReservedSlug', () => {
  it('reserves the first segment of every path of the service', async () => {
    const { app } = await startTestApp()
    // The lines below the root: "│   ├── v1/me (GET, HEAD)".
    const paths = Array.from(
      app.printRoutes({ commonPrefix: false }).matchAll(/^(?:[│ ] {3})?[├└]── \/?(\S*) \(/gmu),
      ([, path = '']) => path,
    )
    const segments = new Set(paths.filter((path) => path !== '*').map((path) => path.split('/')[0] ?? ''))
    expect([...segments]).toEqual(
      expect.arrayContaining(['v1', 'health', 'ready', 'docs', 'pictures', 'openapi.json']),
    )
    for (const segment of segments) {
      expect({ segment, isFree: isSlug(segment) && !isReservedSlug(segment) }).toEqual({
        segment,
        isFree: false,
      })
    }
  })

  it.each([
    'w',
    'invites',
    'invite',
    'onboarding',
    'sign-in',
    'sign-up',
    'sign-out',
    'settings',
    'oauth',
    'mcp',
    'agent',
  ])('reserves the first segments of website paths: %s', (segment) => {
    expect(isSlug(segment) && !isReservedSlug(segment)).toBe(false)
  })

  it('does not reserve other words', () => {
    expect(['acme', 'first-workspace'].filter(isReservedSlug)).toEqual([])
  })
})

describe('suggestSlug', () => {
  it.each([
    ['Café Zürich', 'cafe-zurich'],
    ['Łódź', 'lodz'],
    ['Straße 7', 'strasse-7'],
    ['Ærø & Đỗ', 'aero-do'],
    ['ısırık İstanbul', 'isirik-istanbul'],
    ['Москва Ελλάδα', 'moskva-ellada'],
    ['ＦＵＬＬ ﬁne', 'full-fine'],
    ['  Analytical   Engines!  ', 'analytical-engines'],
    ['Settings', 'team-settings'],
    ['AB', 'team-ab'],
  ])('converts the name %j to the slug %j', async (name, slug) => {
    expect(await suggestSlug(name)).toBe(slug)
  })

  it('suggests a neutral slug for other scripts, the same one for the same name', async () => {
    const slug = await suggestSlug('日本')
    expect(slug).toMatch(/^team-[0-9a-f]{6}$/)
    expect(await suggestSlug('日本')).toBe(slug)
    expect(await suggestSlug('한국')).not.toBe(slug)
  })

  it('suggests a valid slug for any character', async () => {
    for (let first = 0; first < 0x20000; first += 100) {
      const name = String.fromCodePoint(...Array.from({ length: 100 }, (_, i) => first + i))
      for (const part of [name, name.slice(0, 10), `${name.slice(50)} a`]) {
        const slug = await suggestSlug(part)
        expect(() => assertUsableSlug(slug), JSON.stringify(part)).not.toThrow()
      }
    }
  })

  it.each(['abc', 'a-b-c', '0-9', 'x'.repeat(48), `${'x'.repeat(47)}-y`])(
    'returns the slug %s unchanged, up to 48 characters',
    async (slug) => {
      expect(await suggestSlug(slug)).toBe(slug.slice(0, 48).replace(/-$/, ''))
    },
  )

  it('converts long names in time in proportion to their length', () =>
    expectLinear((length) => suggestSlug('ü-'.repeat(length / 2)), 8_000))
})
