import { isDeepStrictEqual } from 'node:util'
import { createAgentAccess, kitSize } from '../agent-access.ts'
import { openSmallDatabase } from '../databases.ts'
import { repeat, type Area, type Subject } from '../harness.ts'
import { startBareKit, startService } from '../subjects.ts'

const http = { method: 'POST' as const, path: '/agent/v1/validation-kit:read' }
// Over MCP a kit of all seeds is truncated, which the bare server does not do. So the agent reads one seed.
const toolCall = (seedId: string | undefined) => ({
  method: 'POST' as const,
  path: '/agent/mcp',
  headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
  body: JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'read_validation_kit', arguments: { seedId } },
  }),
})

export const agents: Area = {
  name: 'agents',
  title: `The validation kit, ${kitSize}, against a bare server`,
  async prepare(bench) {
    const database = await openSmallDatabase(bench)
    const ours = await startService(bench, database)
    const bare = await startBareKit(bench, database)
    // Created here, since the access tokens expire after a few minutes.
    const [access] = await createAgentAccess(ours, 1)
    if (!access) throw new Error('there is no agent')
    const tokens = new Map([
      [ours, access.accessToken],
      [bare, access.grantId],
    ])
    const scenarios = [
      { name: 'POST /agent/v1/validation-kit:read', request: http },
      { name: 'tools/call read_validation_kit, one seed', request: toolCall(access.seedId) },
    ]
    for (const { request } of scenarios) await assertSameAnswer(request, tokens)
    return scenarios.map(({ name, request }) => ({
      name,
      load: repeat((subject) => ({ ...request, token: String(tokens.get(subject)) })),
      subjects: [ours, bare],
      rounds: 5,
      roundSeconds: 2,
      ratios: [{ of: ours, to: bare, goal: 0.8 }],
    }))
  },
}

/** Checks that the compared kits are equal, except for the time of their generation. */
async function assertSameAnswer(
  { path, ...init }: typeof http | ReturnType<typeof toolCall>,
  tokens: ReadonlyMap<Subject, string>,
): Promise<void> {
  const kits: object[] = []
  for (const [{ origin }, token] of tokens) {
    const headers = { ...('headers' in init && init.headers), authorization: `Bearer ${token}` }
    const answer = await fetch(origin + path, { ...init, headers })
    if (!answer.ok) throw new Error(`${path} is answered with ${answer.status}`)
    kits.push(...kitsOf(await answer.text()).map((kit) => ({ ...kit, generatedAt: '' })))
  }
  if (!kits.every((kit) => isDeepStrictEqual(kit, kits[0])))
    throw new Error(`${path} is answered differently`)
}

interface McpAnswer {
  result: { content: { text: string }[]; structuredContent: object }
}

/** The kits in a response. MCP sends the kit twice, possibly in an event stream of one message. */
function kitsOf(answer: string): object[] {
  const json = JSON.parse(answer.replace(/^event: message\ndata: /, '')) as object | McpAnswer
  if (!('result' in json)) return [json]
  const { content, structuredContent } = json.result
  return [structuredContent, ...content.map(({ text }) => JSON.parse(text) as object)]
}
