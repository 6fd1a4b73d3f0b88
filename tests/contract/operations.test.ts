import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { createDescriptionReader, type Operation as DescribedOperation } from '../../scripts/description.ts'
import { createCompany } from '../support/company.ts'
import { operations, permissionTable } from '../support/operations.ts'
import { makeValues, namesIn } from '../support/prepare-request.ts'
import { startTestApp } from '../support/test-app.ts'

const catalogue = 'tests/support/operations.ts'
const service = await startTestApp()
const { document, resolve } = createDescriptionReader(service.app.swagger())

interface Described extends DescribedOperation {
  request: string
}

const described: Described[] = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    ...operation,
    request: `${method.toUpperCase()} ${path}`,
  })),
)

const rowIds = Array.from(permissionTable.matchAll(/^ *(\w+\.\w+) /gm), ([, id]) => String(id))

const names = Object.values(operations).flatMap(namesIn)
const values = await makeValues(service, names, { company: await createCompany(service) })

/** What is missing to test an operation. */
function findFaults({ operationId: id, request, requestBody, parameters = [] }: Described): string[] {
  const entry = operations[id]
  if (!entry) return [`${id} is missing in ${catalogue}: add its request, ${request}`]
  const lacks = (what: string) => `${id} lacks ${what} in ${catalogue}`
  const types = Object.keys(requestBody?.content ?? {})
  const isOfAgents = request.includes(' /agent/')
  const hasPages = parameters.some((parameter) => resolve(parameter).name === 'cursor')
  return [
    withoutNames(entry.request.split('?')[0] ?? '') === withoutNames(request)
      ? ''
      : lacks(`the request ${request}`),
    types.includes('application/json') && !entry.body && !isOfAgents ? lacks('body') : '',
    types.includes('multipart/form-data') && !entry.hasPicture && entry.table === undefined
      ? lacks('hasPicture')
      : '',
    request.startsWith('GET ') || entry.event || entry.hasNoEvent || entry.isOutside
      ? ''
      : lacks('event (or hasNoEvent, isOutside)'),
    hasPages && !entry.list ? lacks('list') : '',
    !entry.isOutside && !rowIds.includes(id) ? lacks('a row of permissionTable') : '',
    ...namesIn(entry)
      .filter((name) => values[name] === undefined)
      .map((name) => `${id} needs {${name}}, which tests/support/prepare-request.ts does not make`),
  ].filter((fault) => fault !== '')
}

/** The catalogue has names of its own for what its requests are about. */
function withoutNames(request: string): string {
  return request.replaceAll(/\{\w+\}/g, '{}')
}

it('every operation has what the tests need: an entry in the catalogue and in the permission table', () => {
  const ids = described.map(({ operationId }) => operationId)
  const gone = [...Object.keys(operations), ...rowIds].filter((id) => !ids.includes(id))
  const faults = described.flatMap(findFaults)
  expect([...faults, ...gone.map((id) => `${id} of ${catalogue} is not an operation`)]).toEqual([])
})

it('whatever has a PATCH has an ETag and takes If-Match, and conventions.md names what is read by its id without one', () => {
  const takes = (name: string) =>
    described.filter(({ parameters = [] }) =>
      parameters.some((parameter) => resolve(parameter).name === name),
    )
  const requestsOf = (method: string, some = described) =>
    some
      .map(({ request }) => request)
      .filter((request) => request.startsWith(`${method} `))
      .map((request) => request.slice(method.length + 1))
  const patched = requestsOf('PATCH')
  expect(requestsOf('PATCH', takes('If-Match'))).toEqual(patched)
  const tagged = requestsOf('GET', takes('If-None-Match'))
  expect(patched.filter((path) => !tagged.includes(path))).toEqual([])

  const text = readFileSync('docs/conventions.md', 'utf8')
  const [, named = ''] = /Without an `ETag` are (.*)\n/.exec(text) ?? []
  const untagged = described.filter(
    ({ request }) => /^GET \/v1\/.*\}$/.test(request) && !tagged.includes(request.slice('GET '.length)),
  )
  expect(named.match(/(?<=`)\w+\.\w+(?=`)/g)?.toSorted()).toEqual(
    untagged.map(({ operationId }) => operationId).toSorted(),
  )
})
