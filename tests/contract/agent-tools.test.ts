import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const readDocument = (name: string) => readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8')

describe('docs/agent-tools.md', () => {
  const page = readDocument('agent-tools.md')

  it('has every tool of the table of scopes, with a call and an answer', () => {
    const [, table = ''] = /## What an agent may do\n\n([^]*?)\n\n/.exec(readDocument('agents.md')) ?? []
    const tools = Array.from(table.matchAll(/`([a-z]+_?[a-z_]*)`/g), ([, name]) => name)
    expect(tools.length).toBeGreaterThan(10)
    expect(Array.from(page.matchAll(/^## (.+)$/gm), ([, name]) => name).toSorted()).toEqual(tools.toSorted())
    expect(page.match(/```json/g)).toHaveLength(2 * tools.length)
    expect(page).not.toContain('undefined')
  })
})
