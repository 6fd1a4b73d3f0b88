import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { renderStatements } from '../../scripts/statements.ts'

it('docs/statements.sql equals the output of npm run docs', async () => {
  expect(await renderStatements()).toBe(await readFile('docs/statements.sql', 'utf8'))
})
