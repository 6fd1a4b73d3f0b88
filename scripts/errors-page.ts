import { format, resolveConfig } from 'prettier'
import { errors, statusOfTag, type ErrorFactory } from '../src/kernel/errors.ts'
import { codesOf, createDescriptionReader } from './description.ts'

/** Renders docs/errors.md from the error catalogue, and from the API description, which has the operations of each error. */
export async function renderErrorsPage(description: object): Promise<string> {
  const operationsOf = findOperations(description)
  const statuses = [...new Set(Object.values(statusOfTag))]
  const sections = statuses.map((status) => {
    const entries = Object.values<ErrorFactory>(errors)
      .filter(({ tag }) => statusOfTag[tag] === status)
      .sort((a, b) => a.code.localeCompare(b.code))
    const rows = entries.map(
      ({ tag, code, message, when }) =>
        `| \`${code}\` | ${tag} | ${when} | ${message} | ${listOperations(operationsOf.get(code) ?? [])} |`,
    )
    return `## ${status}\n\n| Code | Schema | When | Message | Operations |\n| - | - | - | - | - |\n${rows.join('\n')}`
  })
  return format([introduction, ...sections].join('\n\n'), {
    ...(await resolveConfig(import.meta.filename)),
    parser: 'markdown',
  })
}

const operationsShown = 5

/** The ids of operations by error code. */
function findOperations(description: object): Map<string, string[]> {
  const { operations, resolve, answerOf } = createDescriptionReader(description)
  const found = new Map<string, string[]>()
  for (const operation of operations) {
    for (const status of Object.keys(operation.responses)) {
      for (const code of codesOf(answerOf(operation, status) ?? {}, resolve))
        found.set(code, [...(found.get(code) ?? []), operation.operationId])
    }
  }
  return found
}

function listOperations(operations: string[]): string {
  if (operations.length > operationsShown) return `${operations.length} operations`
  return operations.map((id) => `\`${id}\``).join(', ') || 'none'
}

const introduction = `
# Errors

<!-- npm run docs writes this page from src/kernel/errors.ts and from the errors that operations declare. -->

Every error is a JSON object (\`application/json\`) of one of the schemas below, with exactly these fields:

| Field | In | Description |
| - | - | - |
| \`_tag\` | all | The name of the schema. Each schema has one status. |
| \`code\` | all | The condition, for programs. A code never changes; new codes may be added. |
| \`message\` | all | The condition, for people. It may change. |
| \`requestId\` | all | The id of the request, as in the header \`X-Request-Id\` and in the log of the service. |
| \`issues\` | \`HttpApiDecodeError\` | The violations of the schema, 100 at most, as \`{_tag, path, message}\`. Empty when the request could not be parsed. |
| \`field\` | \`InvalidInput\` | The name of the invalid field, or null. |

The \`_tag\` of an issue is \`Missing\` (a required field is absent), \`Unexpected\` (an unknown field), \`Type\` (a wrong type or value) or \`Refinement\` (a wrong length, format or range). Its \`path\` leads from the root of the body, query or path parameters to the field: \`[]\` is the body itself.

\`\`\`json
{
  "_tag": "HttpApiDecodeError",
  "code": "decode_error",
  "message": "The request does not match the expected schema.",
  "issues": [{ "_tag": "Missing", "path": ["name"], "message": "is required" }],
  "requestId": "0b1c7e0e-6f0d-4b6e-9b0a-5a7f0c1d2e3f"
}
\`\`\`

The checks run in this order, and the first one that fails determines the response: 503 for an overloaded process, or 429 for a caller with many of its requests; 404 for an unknown route; 401, 429, and 403 for what the restrictions of the key forbid; 413, 415 and 400 for the form of the request; 404 and 403 for its target; 409.

The API description at \`/openapi.json\` lists the codes of each operation. The OAuth endpoints return OAuth errors instead (\`{error, error_description}\`).
`
