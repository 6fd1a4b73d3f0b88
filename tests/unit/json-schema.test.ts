import { describe, expect, it } from 'vitest'
import { createSchemaReader, type Schema } from '../../src/website/docs/json-schema.ts'

const schemas: Record<string, Schema> = {
  Role: { type: 'string', enum: ['owner', 'viewer'], description: 'What a person may do.' },
  Person: {
    type: 'object',
    required: ['name', 'role'],
    properties: {
      name: { type: 'string', minLength: 1, maxLength: 64 },
      role: { $ref: '#/components/schemas/Role' },
      friends: { type: 'array', items: { $ref: '#/components/schemas/Person' } },
    },
  },
  Failure: {
    type: 'object',
    required: ['_tag', 'code'],
    properties: { _tag: { const: 'Failure' }, code: { type: 'string', description: 'What happened.' } },
  },
}
const reader = createSchemaReader({ components: { schemas }, 'a/b': { '~c': { type: 'integer' } } })
const person = { $ref: '#/components/schemas/Person' }

describe('resolve', () => {
  it('resolves JSON Pointers, and throws for unknown ones', () => {
    expect(reader.resolve<Schema>({ $ref: '#/a~1b/~0c' })).toEqual({ type: 'integer' })
    expect(reader.resolve<Schema>({ type: 'null' })).toEqual({ type: 'null' })
    expect(() => reader.resolve<Schema>({ $ref: '#/components/schemas/Nobody' })).toThrow('schemas/Nobody')
  })
})

describe('describeType', () => {
  it.each<[Schema, string]>([
    [{ type: 'string' }, 'string'],
    [{ type: 'string', format: 'date-time' }, 'date-time'],
    [{ type: ['string', 'null'] }, 'string or null'],
    [{ anyOf: [person, { type: 'null' }] }, 'object or null'],
    [{ type: 'array', items: { $ref: '#/components/schemas/Role' } }, 'array of "owner" or "viewer"'],
    [{ type: 'array', items: { type: 'array', items: { type: 'string' } } }, 'array of arrays of strings'],
    [{ const: true }, 'true'],
    [{ type: 'string', format: 'binary' }, 'file'],
    [{ type: 'string', contentMediaType: 'application/octet-stream' }, 'file'],
    [{}, 'any'],
  ])('describes %j as %s', (schema, type) => {
    expect(reader.describeType(schema)).toBe(type)
  })
})

describe('listFields', () => {
  it('names nested fields by their path, and stops at recursive schemas', () => {
    const fields = reader.listFields({ type: 'array', items: person })
    expect(fields.slice(0, 4)).toEqual([
      { name: 'name', type: 'string', isRequired: true, description: '1 to 64 characters.' },
      { name: 'role', type: '"owner" or "viewer"', isRequired: true, description: 'What a person may do.' },
      { name: 'friends', type: 'array of objects', isRequired: false, description: '' },
      { name: 'friends[].name', type: 'string', isRequired: true, description: '1 to 64 characters.' },
    ])
  })

  it.each(['allOf', 'oneOf', 'anyOf'])('merges a named schema with the properties beside %s', (keyword) => {
    const refined = {
      [keyword]: [{ $ref: '#/components/schemas/Failure' }],
      properties: { code: { enum: ['taken', 'gone'] } },
    }
    expect(reader.listFields(refined)).toEqual([
      { name: '_tag', type: '"Failure"', isRequired: true, description: '' },
      { name: 'code', type: '"taken" or "gone"', isRequired: true, description: 'What happened.' },
    ])
  })

  it('lists the fields that alternatives share once', () => {
    const names = reader
      .listFields({ anyOf: [{ properties: { a: {}, b: {} } }, { properties: { b: {}, c: {} } }] })
      .map(({ name }) => name)
    expect(names).toEqual(['a', 'b', 'c'])
  })

  it.each<[Schema, string]>([
    [{ type: 'integer', minimum: 1, maximum: 200, default: 100 }, '1 to 200, default `100`.'],
    [{ type: 'string', maxLength: 9, description: 'A word' }, 'A word. At most 9 characters.'],
    [{ type: 'string', maxLength: 9, description: 'Up to 9 letters.' }, 'Up to 9 letters.'],
    [{ type: 'array', minItems: 2 }, 'At least 2 items.'],
    [{ type: 'string', pattern: '^a+$' }, 'Matches `^a+$`.'],
    [{ type: 'string', pattern: '^a+$', description: 'A scream.' }, 'A scream.'],
  ])('describes the limits of %j', (schema, description) => {
    expect(reader.listFields({ properties: { field: schema } })[0]?.description).toBe(description)
  })
})

describe('makeExample', () => {
  it('uses given examples and defaults, and otherwise creates the required fields', () => {
    expect(reader.makeExample(person)).toEqual({ name: 'string', role: 'owner' })
    expect(reader.makeExample({ ...person, examples: [{ name: 'Ada' }] })).toEqual({ name: 'Ada' })
    expect(
      reader.makeExample({
        type: 'object',
        properties: {
          count: { type: 'integer', default: 7 },
          isOpen: { type: 'boolean' },
          names: { type: 'array' },
        },
      }),
    ).toEqual({ count: 7, isOpen: true, names: [] })
  })
})
