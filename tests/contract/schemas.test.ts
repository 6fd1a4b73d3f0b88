import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'
import { Ajv } from 'ajv'
import ajvFormats from 'ajv-formats'
import { expect, it, vi } from 'vitest'
import { ConfigSchema } from '../../src/config/settings.ts'
import { schemaController } from '../../src/http/requests/validation.ts'
import { startTestApp } from '../support/test-app.ts'

const ajv = new Ajv()
ajvFormats.default(ajv)

// What Fastify calls; its own declaration names types of another Ajv.
type BuildValidator = (
  shared: object,
  options: unknown,
) => (definition: { schema: unknown }) => (data: unknown) => boolean

it('every schema of requests and responses is valid JSON Schema, and compiles', async () => {
  const { buildValidator, buildSerializer } = schemaController.compilersFactory ?? {}
  if (!buildValidator || !buildSerializer) throw new Error('there is no compiler')
  const schemas: unknown[] = []
  const compilations: (() => unknown)[] = []
  const watchValidator: BuildValidator = (shared, options) => {
    schemas.push(...Object.values(shared as Record<string, unknown>))
    const compile = (buildValidator as unknown as BuildValidator)(shared, options)
    return (definition) => {
      schemas.push(definition.schema)
      const validate = compile(definition)
      compilations.push(() => validate(undefined))
      return validate
    }
  }
  vi.spyOn(schemaController, 'compilersFactory', 'get').mockReturnValue({
    buildValidator: watchValidator as unknown as typeof buildValidator,
    buildSerializer: (shared, options) => {
      const compile = SerializerSelector()(shared, options)
      return (definition) => {
        schemas.push(definition.schema)
        compilations.push(() => compile(definition))
        return compile(definition)
      }
    },
  })
  // With options, so that it is built now and not shared.
  await startTestApp({ environment: {} }).finally(() => vi.restoreAllMocks())
  expect(schemas.length).toBeGreaterThan(120)
  expect(compilations.length).toBeGreaterThan(200)

  for (const schema of schemas) {
    expect(ajv.validateSchema(schema as object), `${JSON.stringify(schema)}: ${ajv.errorsText()}`).toBe(true)
  }
  for (const compile of compilations) compile()

  // Without a sentence, the message of a pattern would be the regular expression.
  const patterned = schemas.flatMap(findPatterned)
  expect(patterned.length).toBeGreaterThan(2)
  expect(patterned.filter((schema) => schema['x-fault'] === undefined)).toEqual([])
})

/** The schemas in a schema that have a pattern. */
function findPatterned(value: unknown): Record<string, unknown>[] {
  if (typeof value !== 'object' || value === null) return []
  const own = 'pattern' in value && typeof value.pattern === 'string' ? [{ ...value }] : []
  return [...own, ...Object.values(value).flatMap(findPatterned)]
}

it('the schema of the settings is valid JSON Schema', () => {
  expect(ajv.validateSchema(ConfigSchema), ajv.errorsText()).toBe(true)
})

it('the validation reports an invalid schema', () => {
  expect(ajv.validateSchema({ type: 'objekt' })).toBe(false)
})
