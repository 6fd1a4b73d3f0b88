import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { renderStatements } from '../../scripts/statements.ts'

it('docs/statements.sql has the prepared statements as they are: npm run docs writes it', async () => {
  expect(await renderStatements()).toBe(await readFile('docs/statements.sql', 'utf8'))
})
