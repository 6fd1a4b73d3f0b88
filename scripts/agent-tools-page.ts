import { format, resolveConfig } from 'prettier'
import { createDescriptionReader, type Operation } from './description.ts'

const introduction = `# The tools of agents

Made by \`npm run docs\` from the API description. Each tool with an example call and its answer. Over MCP the name and the arguments are those of \`tools/call\`, and the answer is the text and \`structuredContent\` of the result; over HTTP they are the body and the response of the operation. [agents.md](agents.md) says which scope each tool needs, and how errors look.`

/** Renders docs/agent-tools.md from the API description, which has the tools of agents as operations. */
export async function renderAgentToolsPage(description: object): Promise<string> {
  const { operations } = createDescriptionReader(description)
  const sections = operations.filter(({ operationId }) => operationId.startsWith('agent.')).map(renderTool)
  return format([introduction, ...sections].join('\n\n'), {
    ...(await resolveConfig(import.meta.filename)),
    parser: 'markdown',
  })
}

function renderTool({ operationId, description, requestBody, responses }: Operation): string {
  const [, name = ''] = /MCP tool `(\w+)`/.exec(description) ?? []
  const [about = ''] = description.split(' The HTTP form of')
  const body = requestBody?.content['application/json']?.example
  const answer = responses['200']?.content?.['application/json']?.example
  return [
    `## ${name}`,
    `${about} Over HTTP: \`${operationId}\`.`,
    renderJson({ name, arguments: body }),
    renderJson(answer),
  ].join('\n\n')
}

function renderJson(value: unknown): string {
  return `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``
}
