import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { describe, expect, it } from 'vitest'
import { loadConfig, type Config } from '../../src/config/config.ts'
import { ConfigSchema } from '../../src/config/settings.ts'

const text = readFileSync(new URL('../../.env.example', import.meta.url), 'utf8')

describe('.env.example', () => {
  it('sets no variable as it is', () => {
    expect(parseEnv(text)).toEqual({})
  })

  it('contains every variable with its default value', () => {
    const variables = parseEnv(text.replaceAll(/^#(?=[A-Z_]+=)/gm, '')) as Record<string, string>
    expect(Object.keys(variables).toSorted()).toEqual(Object.keys(ConfigSchema.properties).toSorted())
    const expected = { ...loadConfig({}), secretNow: expect.any(Function) as Config['secretNow'] }
    expect(loadConfig(variables)).toEqual(expected)
  })
})

describe('docs/configuration.md', () => {
  it('lists every variable', () => {
    const page = readFileSync(new URL('../../docs/configuration.md', import.meta.url), 'utf8')
    for (const name of Object.keys(ConfigSchema.properties)) expect(page).toContain(`| \`${name}\` `)
  })
})
