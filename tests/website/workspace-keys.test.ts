import { expect, it } from 'vitest'
import { createKey } from '../support/api-keys.ts'
import { createCompany } from '../support/company.ts'
import { signInAs, startWebsite } from './visitor.ts'

const website = await startWebsite()

it('shows owners and admins the keys that act in the workspace, and whose they are', async () => {
  const company = await createCompany(website)
  const { admin, member, workspace } = company
  const base = `/w/${workspace.slug}`
  const key = await createKey(website, member, { workspaceIds: [workspace.id], maxRole: 'viewer' })
  const visitor = await signInAs(website, admin)
  const settings = await visitor.get(`${base}/settings`)
  expect(settings.body).toContain(`href="${base}/settings/api-keys"`)
  const page = await visitor.get(`${base}/settings/api-keys`)
  expect(page.body).toContain(`${key.tokenPrefix}…${key.lastFour}`)
  expect(page.body).toContain(`href="${base}/people/${member.id}"`)
  expect(page.body.replaceAll(/\s+/g, ' ')).toContain('has changed nothing · acts as viewer at most')
  const ofMember = await signInAs(website, member)
  expect((await ofMember.get(`${base}/settings/api-keys`)).statusCode).toBe(403)
})
