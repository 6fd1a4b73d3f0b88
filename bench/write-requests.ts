import { createAddress } from './callers.ts'
import { pick, type Request } from './loads.ts'
import type { WriteDatabase } from './write-database.ts'

const seed = {
  title: 'A weekly digest of what changed',
  summary: 'What it is about. '.repeat(15).trim(),
  problem: 'What is wrong today. '.repeat(12).trim(),
  audience: 'People who work together',
  hypothesis: 'What we believe. '.repeat(10).trim(),
  successCriteria: ['Ten people ask for it', 'One of them pays'],
}
const evidence = {
  kind: 'interview',
  verdict: 'supports',
  summary: 'What somebody said. '.repeat(15).trim(),
  sourceUrl: 'https://example.com/interview',
}

/**
 * The writes that are measured, by name: the request with a number, if there are as many. Each person stays in a workspace, as people do: the
 * service records a visit of another one.
 */
export function writeRequests(
  database: WriteDatabase,
): Record<string, (place: number) => Request | undefined> {
  const { callers, slugs, seedIds, guests } = database
  return {
    'PATCH /v1/me': (place) => ({
      method: 'PATCH',
      path: '/v1/me',
      token: pick(callers, place),
      body: JSON.stringify({ name: `Writer ${place}` }),
    }),
    'seeds.create': (place) => ({
      method: 'POST',
      path: `/v1/workspaces/${pick(slugs, place)}/seeds`,
      token: pick(callers, place),
      body: JSON.stringify(seed),
    }),
    'seeds.addEvidence': (place) => ({
      method: 'POST',
      path: `/v1/seeds/${pick(seedIds, place)}/evidence`,
      token: pick(callers, place),
      body: JSON.stringify(evidence),
    }),
    'invites.create': (place) => ({
      method: 'POST',
      path: `/v1/workspaces/${pick(slugs, place)}/invites`,
      token: pick(callers, place),
      body: JSON.stringify({ email: createAddress(`Invited ${place}`), role: 'member' }),
    }),
    'invites.accept': (place) => {
      const guest = guests[place]
      return guest && { method: 'POST', path: `/v1/invites/${guest.token}/accept`, token: guest.apiKey }
    },
  }
}
