import { Ajv } from 'ajv'
import ajvFormats from 'ajv-formats'
import { expect, it, vi } from 'vitest'
import { startTestApp } from '../support/test-app.ts'

const ajv = new Ajv()
ajvFormats.default(ajv)

it('every schema of a request or a response is valid JSON Schema', async () => {
  const compile = vi.spyOn(Ajv.prototype, 'compile')
  const addSchema = vi.spyOn(Ajv.prototype, 'addSchema')
  // With options, so that it is built now and not shared.
  await startTestApp({ environment: {} })
  expect(compile.mock.calls.length).toBeGreaterThan(60)
  expect(addSchema.mock.calls.length).toBeGreaterThan(60)

  for (const [schema] of [...compile.mock.calls, ...addSchema.mock.calls]) {
    const isValid = [schema].flat().every((each) => ajv.validateSchema(each) === true)
    expect(isValid, `${JSON.stringify(schema)}: ${ajv.errorsText()}`).toBe(true)
  }
})

it('an invalid schema would be noticed', () => {
  expect(ajv.validateSchema({ type: 'objekt' })).toBe(false)
})
