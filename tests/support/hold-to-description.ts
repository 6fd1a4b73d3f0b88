import { afterAll, expect } from 'vitest'
import type { App } from '../../src/http/app-types.ts'
import { createDescriptionReader } from '../../scripts/description.ts'
import { createFaultFinder } from './schema-faults.ts'

const differencesOfFile = new Set<string>()

// Here, where the file is imported: an app may be started inside a test, which is too late for such a hook.
afterAll(() => expect([...differencesOfFile]).toEqual([]))

// Making one takes half a second. The description of the whole app is always the same, but for the URLs of its servers.
let comparison: Comparison | undefined

/** Fails the test file in the end when the whole app has given an answer that the API description does not have. */
export function holdToDescription(app: App): void {
  collectDifferences(app, differencesOfFile, () => (comparison ??= createComparison(app)))
}

/**
 * Collects in what the answers of the app, from now on, differ from what the API description says of their operations:
 * the status, the headers, the schema of the body, and with it the codes of errors. It changes no answer.
 */
export function collectDifferences(
  app: App,
  differences: Set<string>,
  createCompare = () => createComparison(app),
): void {
  let compare: Comparison | undefined
  app.addHook('onSend', async (request, reply, payload) => {
    const operationId = request.routeOptions.schema?.operationId
    if (operationId === undefined || request.method === 'HEAD') return payload
    compare ??= createCompare()
    const answer = {
      status: reply.statusCode,
      headers: Object.keys(reply.getHeaders()),
      body: typeof payload === 'string' || Buffer.isBuffer(payload) ? payload.toString() : undefined,
    }
    for (const difference of compare(operationId, answer))
      differences.add(`${operationId} answered ${answer.status} ${difference}`)
    return payload
  })
}

/** What answers have for browsers, caches and the transport: the description leaves it out. */
const undescribedHeaders =
  /^(access-control-.*|allow|cache-control|connection|content-(length|security-policy|type)|cross-origin-.*|date|referrer-policy|strict-transport-security|vary|x-accel-buffering|x-content-type-options|x-frame-options)$/

interface Answer {
  status: number
  headers: string[]
  body: string | undefined
}

/** Compares an answer with the description of its operation. Returns what differs, in words. */
type Comparison = (operationId: string, answer: Answer) => string[]

/** Compares with the description of an app. */
export function createComparison(app: App): Comparison {
  const { document, operations, resolve, answerOf } = createDescriptionReader(app.swagger())
  const findFaults = createFaultFinder(document)

  const namesOf = (answer: { headers?: object } | undefined) =>
    Object.keys(answer?.headers ?? {}).map((name) => name.toLowerCase())

  return (operationId, { status, headers, body }) => {
    const operation = operations.find((candidate) => candidate.operationId === operationId)
    const described = operation && answerOf(operation, status)
    const value = body === undefined ? undefined : parseJson(body)
    const code = (value as { code?: string } | null | undefined)?.code
    if (!described) return [code ? `${code}, which it does not declare` : 'which it does not declare']
    const success = resolve(
      Object.entries(operation.responses).find(([key]) => key.startsWith('2'))?.[1] ?? {},
    )
    const known = [...namesOf(described), ...namesOf(success)]
    const differences = headers
      .filter((name) => !undescribedHeaders.test(name) && !known.includes(name))
      .map((name) => `with the header ${name}, which it does not declare`)

    const schema = described.content?.['application/json']?.schema
    if (schema === undefined || body === undefined) return differences
    const faults = findFaults(schema, value)
    if (faults.length === 0) return differences
    const isCode = faults.some(({ keyword, instancePath }) => keyword === 'enum' && instancePath === '/code')
    return [
      ...differences,
      isCode
        ? `${code}, which it does not declare`
        : `with another body than described: ${JSON.stringify(faults)}`,
    ]
  }
}

/** What a body says; the text itself when it is not JSON. */
function parseJson(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return body
  }
}
