import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { describe, expect, it } from 'vitest'
import { ConfigSchema, loadConfig } from '../../src/config.ts'

const text = readFileSync(new URL('../../.env.example', import.meta.url), 'utf8')

const defaultOf = (schema: { default?: unknown }) => {
  const value = schema.default as string | number | boolean | undefined
  return value === undefined ? '' : String(value)
}

describe('.env.example', () => {
  it('holds every variable with its description and default, in the order of the schema', () => {
    const [, ...blocks] = text.trimEnd().split('\n\n')
    const expected = Object.entries(ConfigSchema.properties).map(
      ([name, schema]) => `# ${schema.description}\n#${name}=${defaultOf(schema)}`,
    )
    expect(blocks).toEqual(expected)
  })

  it('changes nothing as it is', () => {
    expect(parseEnv(text)).toEqual({})
  })

  it('changes nothing when every line is taken in', () => {
    const variables = parseEnv(text.replaceAll(/^#(?=[A-Z_]+=)/gm, '')) as Record<string, string>
    expect(Object.keys(variables).toSorted()).toEqual(Object.keys(ConfigSchema.properties).toSorted())
    expect(loadConfig(variables)).toEqual(loadConfig({}))
  })
})

describe("the README's table", () => {
  it('holds every variable with its default', () => {
    const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')
    const rows = [...readme.matchAll(/^\| `([A-Z_]+)` *\|([^|]*)\|/gm)].map(([, name, value = '']) => [
      name,
      value.trim().replaceAll('`', ''),
    ])
    const expected = Object.entries(ConfigSchema.properties).map(([name, schema]) => [
      name,
      defaultOf(schema),
    ])
    expect(rows).toEqual(expected)
  })
})
