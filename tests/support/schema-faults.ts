import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import ajvFormats from 'ajv-formats'
import type { Description, Schema } from '../../scripts/description.ts'

/** Finds what is wrong with values by schemas of the API description. Schemas may refer to its components. */
export function createFaultFinder(document: Description): (schema: Schema, value: unknown) => ErrorObject[] {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  ajvFormats.default(ajv)
  ajv.addSchema(document, 'description')
  const validators = new WeakMap<Schema, ValidateFunction>()

  function compile(schema: Schema): ValidateFunction {
    // Taken out of the document, a schema must say where its references begin.
    const text = JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"description#/')
    return ajv.compile(JSON.parse(text) as Schema)
  }

  return (schema, value) => {
    const validate = validators.get(schema) ?? compile(schema)
    validators.set(schema, validate)
    return validate(value) ? [] : (validate.errors ?? [])
  }
}
