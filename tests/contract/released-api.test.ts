import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findPromises, type Promises } from '../../scripts/promises.ts'
import { checkEach } from '../support/check-each.ts'

const read = (file: string): unknown =>
  JSON.parse(readFileSync(join(import.meta.dirname, '../..', file), 'utf8'))
const released = read('docs/released-api.json') as Promises & { version: string }
const present = findPromises(read('docs/openapi.json') as object)

/** The export of everything that is stored of a person gains fields with the tables: its lists keep those that they had. */
const growing = new Set(['PersonExport'])

/** The fields of the objects of a list, each with its type. */
const fieldsOfList = (type: string) => type.match(/\w+: [^,{}]+(?=[,} ])/g) ?? []

describe('what the last release has promised (docs/design/errors.md#compatibility)', () => {
  it('was written for the version of the package', () => {
    expect(released.version).toBe((read('package.json') as { version: string }).version)
  })

  it('is kept by each of its operations: route, inputs that are not required anew, and responses', async () => {
    await checkEach(
      Object.entries(released.operations),
      ([id]) => id,
      ([id, promised]) => {
        const { route, inputs = {}, responses } = present.operations[id] ?? {}
        expect({ id, route, responses }).toEqual({ id, route: promised.route, responses: promised.responses })
        expect(Object.keys(inputs)).toEqual(expect.arrayContaining(Object.keys(promised.inputs)))
        const required = Object.keys(inputs).filter((name) => inputs[name] === 'required')
        expect(required.filter((name) => promised.inputs[name] !== 'required')).toEqual([])
      },
    )
  })

  it('is kept by each of its objects: the same fields with the same types, where objects are closed', async () => {
    await checkEach(
      Object.entries(released.objects),
      ([name]) => name,
      ([name, fields]) => {
        if (released.openObjects.includes(name)) expect(present.objects[name]).toMatchObject(fields)
        else if (growing.has(name)) {
          expect(Object.keys(present.objects[name] ?? {})).toEqual(Object.keys(fields))
          for (const [field, type] of Object.entries(fields)) {
            const promised = fieldsOfList(type).map((each) => each.trim())
            expect(promised, field).not.toEqual([])
            const now = fieldsOfList(String(present.objects[name]?.[field])).map((each) => each.trim())
            expect(now, field).toEqual(expect.arrayContaining(promised))
          }
        } else expect({ name, fields: present.objects[name] }).toEqual({ name, fields })
      },
    )
  })
})
