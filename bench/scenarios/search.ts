import { crowd, openSearchDatabase } from '../databases.ts'
import type { Area } from '../harness.ts'
import { oneAtATime } from '../one-at-a-time.ts'
import { startService } from '../compared-servers.ts'

const base = `/v1/workspaces/${crowd.slug}`

/** Words of the evidence: one of a hundred pieces has `term7`, one of a thousand `rare7`; all have `somebody`. */
const asked = {
  'a word that one of a thousand pieces of evidence has': `${base}/search?q=rare7`,
  'a word that one of a hundred has': `${base}/search?q=term7`,
  'a word that all have': `${base}/search?q=somebody`,
  'the beginning of many words': `${base}/search?q=ter`,
  'three words together': `${base}/search?q=${encodeURIComponent('somebody said term7')}`,
  'words in quotes': `${base}/search?q=${encodeURIComponent('"somebody said term7"')}`,
  'two characters of Japanese': `${base}/search?q=${encodeURIComponent('音声')}`,
  'what is similar to a plural': `${base}/search?q=ideas&match=similar`,
  'what is similar to a word with a mistake': `${base}/search?q=perosn&match=similar`,
  'a word that nothing has': `${base}/search?q=nowhere`,
  'the counts of a word that all have': `${base}/search/counts?q=somebody`,
  'seeds that have a word': `${base}/seeds?q=idea`,
}

export const search: Area = {
  name: 'search',
  title: 'The search, one at a time, in a workspace of 10,000 seeds and 100,000 pieces of evidence',
  async prepare(bench) {
    const ours = await startService(bench, await openSearchDatabase(bench), ', search')
    const headers = { authorization: `Bearer ${ours.database.apiKey}` }
    return Object.entries(asked).map(([name, path]) =>
      oneAtATime(bench, ours, name, { goalMs: 20, send: () => fetch(ours.origin + path, { headers }) }),
    )
  },
}
