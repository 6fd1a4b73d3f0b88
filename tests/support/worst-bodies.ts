import type { OpenApiDocument } from '../../src/http/description/openapi-document.ts'

/** The largest body that is read, in bytes; that of registrations is smaller. */
const bytesMaxOf = (operationId: string) => (operationId === 'agentOAuth.register' ? 16 : 64) * 1024

interface Schema {
  properties?: Record<string, unknown>
}

/** An operation that takes a JSON body, and bodies that are as costly to refuse as can be. */
export interface WorstBodies {
  operationId: string
  method: 'POST' | 'PATCH'
  /** With its parameters filled in. */
  path: string
  /** By what is wrong with them. */
  bodies: Map<string, string>
}

/** Makes bodies of the greatest size for each operation of the description that takes JSON. */
export function makeWorstBodies(document: OpenApiDocument): WorstBodies[] {
  const found: WorstBodies[] = []
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods as Record<string, Operation>)) {
      const schema = operation.requestBody?.content?.['application/json']?.schema
      if (!schema) continue
      const room = bytesMaxOf(operation.operationId) - 16
      found.push({
        operationId: operation.operationId,
        method: method.toUpperCase() as 'POST' | 'PATCH',
        path: path.replaceAll(/\{[^}]+\}/g, 'acme'),
        bodies: new Map(Object.entries(bodiesFor(schema)).map(([name, make]) => [name, make(room)])),
      })
    }
  }
  return found
}

interface Operation {
  operationId: string
  requestBody?: { content?: Record<string, { schema?: Schema }> }
}

type Make = (room: number) => string

function bodiesFor(schema: Schema): Record<string, Make> {
  const bodies: Record<string, Make> = {
    'unknown fields': (room) => `{${fill(room, (i) => `"f${i}":0`)}}`,
    'unknown fields that need escaping': (room) => `{${fill(room, (i) => `"~/${i}\\n":0`)}}`,
    'a deep nesting': (room) => '['.repeat(room / 2) + ']'.repeat(room / 2),
    'deep objects': (room) => '{"a":'.repeat(room / 6) + '0' + '}'.repeat(room / 6),
    'an array of objects': (room) => `[${fill(room, () => '{}')}]`,
    'a long number': (room) => '9'.repeat(room),
  }
  for (const name of Object.keys(schema.properties ?? {})) {
    const at =
      (value: Make): Make =>
      (room) =>
        `{"${name}":${value(room - name.length - 6)}}`
    for (const [kind, text] of Object.entries(texts))
      bodies[`${name}: ${kind}`] = at((room) => `"${text.repeat(room / Buffer.byteLength(text))}"`)
    bodies[`${name}: a deep nesting`] = at((room) => '['.repeat(room / 2) + ']'.repeat(room / 2))
    bodies[`${name}: a long number`] = at((room) => '-' + '9'.repeat(room - 1))
    bodies[`${name}: wrong items`] = at((room) => `[${fill(room, () => '0')}]`)
    bodies[`${name}: empty items`] = at((room) => `[${fill(room, () => '""')}]`)
    bodies[`${name}: long items`] = at(
      (room) => `[${Array.from({ length: 20 }, () => `"${'\\u200b'.repeat(room / 140)}"`).join(',')}]`,
    )
    bodies[`${name}: unknown fields`] = at((room) => `{${fill(room, (i) => `"f${i}":0`)}}`)
  }
  return bodies
}

/** What patterns and formats may be slow at. */
const texts: Record<string, string> = {
  letters: 'a',
  blanks: ' ',
  'escaped blanks': '\\n',
  hyphens: 'a-',
  dots: 'a.',
  'mail addresses': 'a@a.',
  URLs: 'http://',
  domains: 'a.com,',
  zeros: '0',
  'control characters': '\\u0001',
  'lone surrogates': '\\ud800',
  emoji: '😀',
  'combining marks': 'e\u0301',
  'characters without width': '\u200b',
}

function fill(room: number, item: (i: number) => string): string {
  const items: string[] = []
  for (let i = 0, size = 0; ; i++) {
    const text = item(i)
    size += Buffer.byteLength(text) + 1
    if (size > room) return items.join(',')
    items.push(text)
  }
}
