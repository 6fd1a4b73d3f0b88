import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { errors, statusOfTag } from '../../src/kernel/errors.ts'

const page = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8')

const rows = page
  .split('\n')
  .filter((line) => /^\| `[a-z_]+` *\| *\d{3} *\|/.test(line))
  .map((line) => {
    const [code = '', status, schema = '', when = '', message] = line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim())
    return { code: code.replaceAll('`', ''), status: Number(status), schema, when, message }
  })

describe('docs/errors.md', () => {
  it('lists every error of the catalogue, as it is, by status and code', () => {
    const listed = rows.map(({ code, status, schema, message }) => ({ code, status, schema, message }))
    const known = Object.values(errors)
      .map(({ tag, code, message }) => ({ code, status: statusOfTag[tag], schema: tag, message }))
      .sort((a, b) => a.status - b.status || a.code.localeCompare(b.code))
    expect(listed).toEqual(known)
  })

  it('says of each when it happens', () => {
    for (const { code, when } of rows) expect(when, code).toMatch(/^[A-Z`].*\.$/)
  })
})
