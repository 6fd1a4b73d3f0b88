import { countTokensOf } from './count-tokens.ts'
import type { AgentScope } from '../../src/domain/agent.ts'
import { letAgentIn, type AgentCaller, type Era } from './agent-caller.ts'
import type { TestApp, TestPerson } from './test-app.ts'

/** An agent whose calls are counted, with the tokens that a model reads and writes: arguments and the text of answers. */
export async function createScriptedModel(
  service: TestApp,
  workspace: { id: string; slug: string },
  person: TestPerson,
  { era, scopes }: { era: Era; scopes?: readonly AgentScope[] },
) {
  const agent = await letAgentIn(service, workspace, person, { era, ...(scopes && { scopes }) })
  let tokens = 0
  let calls = 0
  const use: AgentCaller['use'] = async (name, args = {}) => {
    const content = await agent.use<never>(name, args)
    calls += 1
    tokens += countTokensOf({ name, arguments: args }) + countTokensOf(content)
    return content
  }
  return { agent, use, tokens: () => tokens, calls: () => calls }
}
