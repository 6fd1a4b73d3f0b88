/** Stands in everything that is sent, so that it can be looked for where it must not be. */
export const canary = 'c4n4ry'

/** Numbers that look random and are the same for the same seed (mulberry32). */
export function createRandom(seed: number) {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit: number) => Math.floor(next() * limit)
  return {
    below,
    chance: (probability: number) => next() < probability,
    pick<T>(list: readonly T[]): T {
      const chosen = list[below(list.length)]
      if (chosen === undefined) throw new Error('there is nothing to pick from')
      return chosen
    },
  }
}

export type Random = ReturnType<typeof createRandom>

/** Texts that have broken services before, or that mean something to one of the parts behind this one. */
export const texts: readonly string[] = [
  '',
  ' ',
  '\0',
  `${canary}\0`,
  '\ud800',
  `\udc00${canary}`,
  `\ud83d${canary}`,
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '€',
  `\r\nset-cookie: ${canary}=1`,
  '\u2028',
  '../../etc/passwd',
  '..\\..\\',
  '%00',
  '%zz',
  "' or 1=1 --",
  '"; drop table users; --',
  '\\',
  '%_',
  '<script>alert(1)</script>',
  '${7*7}{{7*7}}',
  'javascript:alert(1)',
  `//${canary}.example`,
  `https://${canary}.example/\0`,
  `https://[::1]:99999/${canary}`,
  `http://user:${canary}@127.0.0.1/`,
  'data:text/html,x',
  `${canary}@exämple.example`,
  `vi\u212Ator@${canary}.example`,
  `${canary}@ma\u0130l.example`,
  `"${canary}"@[127.0.0.1]`,
  '\u202e\u2066txt.exe',
  '\ufeff\u200b\u00ad',
  'e\u0301'.repeat(300),
  '👩‍👩‍👧‍👦'.repeat(50),
  `${canary}${'x'.repeat(7_000)}`,
  '0',
  '-1',
  '1e999',
  'NaN',
  '9223372036854775808',
  '00000000-0000-0000-0000-000000000000',
  '0196a7f0-0000-7000-8000-00000000000g',
  '2026-02-30T25:61:61Z',
  '[]',
  '{"a":1}',
  'null',
  'undefined',
  'true',
]

/** Parts of paths and queries as they may stand on the wire, well encoded or not. */
export const encodedTexts: readonly string[] = [
  '%00',
  `${canary}%00`,
  '%E2%82%AC',
  '%0d%0a',
  `%0d%0aset-cookie:${canary}=1`,
  '%ff',
  '%c0%80',
  '%ED%A0%80',
  '%',
  '%zz',
  '%2',
  '%2e%2e%2f%2e%2e%2f',
  '..%5c..%5c',
  '..;',
  '%25%30%30',
  '%F0%9F%91%A9',
  '+',
  ';x=1',
  '%09',
  `${canary}${'x'.repeat(8_000)}`,
]

/** Values of JSON that are of another kind than what is expected. */
export const values: readonly unknown[] = [
  null,
  true,
  0,
  -0,
  1.5,
  1e308,
  Number.MAX_SAFE_INTEGER + 2,
  [],
  {},
  [[[[[[[[]]]]]]]],
  Array.from({ length: 2_000 }, () => 0),
  { __proto__: null, constructor: { prototype: canary } },
  JSON.parse('{"__proto__": {"isAdmin": true}}'),
  nested(500),
]

/** Whole bodies that are no JSON, or hardly. */
export const rawBodies: readonly string[] = [
  '',
  '{',
  'null',
  '[]',
  '"',
  '{"a":1}{"b":2}',
  `{"name":"${canary}\\ud800"}`,
  '{"name":"\\u0000"}',
  '{"name":"\0"}',
  `{"__proto__":{"name":"${canary}"},"name":"x"}`,
  '{"name":1,"name":"twice"}',
  '\ufeff{}',
  '['.repeat(30_000),
  `{"name":"${'\\u0041'.repeat(5_000)}"}`,
  `a=1&a=2&__proto__=${canary}&b[c]=d`,
  '%00=%00&%zz=%ff&_csrf=',
  `--x\r\ncontent-disposition: form-data; name="${canary}"\r\n\r\n1\r\n--x--`,
]

function nested(depth: number): unknown {
  return JSON.parse('{"a":'.repeat(depth) + '1' + '}'.repeat(depth)) as unknown
}

/** Encodes any text for a URL, lone surrogates included, which encodeURIComponent refuses. */
export function encode(text: string): string {
  return Array.from(text, (character) =>
    /^[\ud800-\udfff]$/.test(character)
      ? [
          0xe0 | (character.charCodeAt(0) >> 12),
          0x80 | ((character.charCodeAt(0) >> 6) & 63),
          0x80 | (character.charCodeAt(0) & 63),
        ]
          .map((byte) => `%${byte.toString(16)}`)
          .join('')
      : encodeURIComponent(character),
  ).join('')
}
