import { describe, expect, it } from 'vitest'
import { isAllowed, permissions, type WorkspaceAction } from '../../src/access/permissions.ts'
import { roles, type Role } from '../../src/domain/roles.ts'
import { createComment } from '../support/comments.ts'
import { createCompany, createInvite, createTeam, del, post } from '../support/company.ts'
import { addEvidence, createSeed, insertGrant, joinSeed } from '../support/seeds.ts'
import { createService } from '../support/service-accounts.ts'
import { startTestApp } from '../support/test-app.ts'
import { createWebhook } from '../support/webhooks.ts'
import { operationOfForm } from './operation-of-form.ts'
import { signInAs } from './visitor.ts'

const service = await startTestApp()
const { as } = service

/** The ids of the people, and of what each of them wrote. */
const ownIds: Record<Role, string[]> = { owner: [], admin: [], member: [], viewer: [] }

/** A workspace in which everybody has written something, as far as their role lets them. */
async function createUsedCompany() {
  const company = await createCompany(service)
  const { owner, admin, member, workspace, url } = company
  for (const role of roles) ownIds[role].push(company[role].id)
  for (const person of [owner, admin, member]) {
    const seed = await createSeed(service, person, company)
    for (const role of ['owner', 'admin', 'member'] as const) {
      const other = company[role]
      await joinSeed(service, other, seed)
      const { id: evidenceId } = await addEvidence(service, other, seed)
      const comment = await createComment(service, other, seed, { evidenceId })
      ownIds[role].push(evidenceId, comment.id)
    }
    const team = await createTeam(service, owner, company)
    await as(owner, post(`${team.url}/members`, { userId: person.id }))
    await insertGrant(service, workspace, person)
    await as(person, del(`/v1/seeds/${(await createSeed(service, person, company)).id}`))
  }
  await createInvite(service, admin, company)
  await createService(service, owner, company)
  await createWebhook(service, owner, company, { url: 'https://hooks.example.com/' })
  await as(owner, post(`${url}/teams`, { name: 'Empty' }))
  return company
}

const company = await createUsedCompany()
const base = `/w/${company.workspace.slug}`

/** Follows all links of a role below the home of the workspace. Returns what the pages answered and their forms. */
async function crawl(role: Role) {
  const visitor = await signInAs(service, company[role])
  const statuses = new Map<string, number>()
  const forms = new Set<string>()
  const found = [base]
  for (const path of found) {
    if (statuses.has(path)) continue
    const answer = await visitor.get(path)
    statuses.set(path, answer.statusCode)
    const of = (attribute: string) =>
      [...answer.body.matchAll(new RegExp(`\\b${attribute}="(${base}[^"#]*)`, 'g'))].map(([, value = '']) =>
        value.replaceAll('&amp;', '&'),
      )
    // Of the activity, one page: its filters have no end.
    found.push(...of('href').filter((href) => !href.includes('/activity?')))
    for (const action of [...of('action'), ...of('formaction')]) forms.add(action.replace(/\?.*/, ''))
  }
  return { statuses, forms }
}

const patterns = Object.entries(operationOfForm).map(([path, operation]) => ({
  operation,
  pattern: new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`),
}))

/** What another permission is needed for than for one's own; null: what is only for one's own. */
const ofOthers: Partial<Record<string, WorkspaceAction | null>> = {
  'agentRequests.cancel': 'agentRequests.cancelOthers',
  'comments.delete': 'comments.deleteOthers',
  'comments.update': null,
  'evidence.update': null,
  'evidence.withdraw': 'evidence.withdrawOthers',
}
const ofSelf: Partial<Record<string, WorkspaceAction>> = {
  'members.remove': 'members.leave',
  'teams.removeMember': 'teams.leave',
}

/** The permission that a form needs of a role. Undefined for a form without one, such as that of the theme. */
function neededFor(action: string, role: Role): string | null | undefined {
  const operation = patterns.find(({ pattern }) => pattern.test(action))?.operation
  if (operation === undefined) return undefined
  const isOwn = ownIds[role].some((id) => action.includes(id))
  const other = isOwn ? ofSelf[operation] : ofOthers[operation]
  return other === undefined ? operation : other
}

const isPermitted = (role: Role, needed: string | null) =>
  needed !== null && (!(needed in permissions) || isAllowed(role, needed as WorkspaceAction))

describe.each(roles)('the pages of a workspace, for the role %s', (role) => {
  it('have no link that the role may not follow, and no form that it may not send', async () => {
    const { statuses, forms } = await crawl(role)
    expect(statuses.size).toBeGreaterThan(20)
    expect([...statuses].filter(([, status]) => status !== 200)).toEqual([])
    const offered = [...forms].map((action) => ({ action, needed: neededFor(action, role) }))
    expect(offered.filter(({ needed }) => needed !== undefined && !isPermitted(role, needed))).toEqual([])
    // What the role may do is on the pages.
    const operations = new Set(offered.map(({ needed }) => needed))
    expect(operations.has('seeds.follow') || operations.has('seeds.unfollow')).toBe(true)
    for (const operation of [
      'comments.create',
      'comments.deleteOthers',
      'seeds.update',
      'teams.create',
    ] as const)
      expect(operations.has(operation), operation).toBe(isAllowed(role, operation))
  })
})
