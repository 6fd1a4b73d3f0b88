import { parseJson } from '../../kernel/json-text.ts'
import type { KitService } from '../kit/kit.service.ts'
import { listForm } from '../tools/read-validation-kit.tools.ts'
import type { Suggest } from './mcp-resources.ts'

const suggestionsMax = 20

/** Suggests the ids of seeds for words of their texts, first those with the words in their titles. */
export function suggestSeeds(kit: KitService): Suggest {
  return async (agent, typed) => {
    const query = typed.trim()
    const input = { detail: 'outline' as const, limit: suggestionsMax, ...(query !== '' && { query }) }
    const { outline } = parseJson(await kit.read(agent, input, listForm))
    const isInTitle = ({ title }: { title: string }) => title.toLowerCase().includes(query.toLowerCase())
    const inTitle = outline.filter(isInTitle)
    return [...inTitle, ...outline.filter((seed) => !isInTitle(seed))].map(({ id }) => id)
  }
}
