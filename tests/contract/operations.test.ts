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

/** PATCH operations without `If-Match`: why two people cannot undo each other's change unnoticed. */
const unversioned: Record<string, string> = {
  'me.updatePreferences': 'only the person sets them, all at once',
  'notifications.updatePreferences': 'only the person sets them, each on its own',
  'serviceAccounts.update': 'has no GET of its own; each field is changed on its own',
  'webhooks.update': 'its form compares each field with what it was when it was opened',
}

it('every PATCH is a conditional request, or has a reason not to be', () => {
  const patches = described.filter(({ request }) => request.startsWith('PATCH '))
  const without = patches.filter(
    ({ parameters = [] }) => !parameters.some((parameter) => resolve(parameter).name === 'If-Match'),
  )
  expect(without.map(({ operationId }) => operationId).sort()).toEqual(Object.keys(unversioned).sort())
})
