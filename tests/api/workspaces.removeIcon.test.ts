import { describe, expect, it } from 'vitest'
import { errors } from '../../src/kernel/errors.ts'
import { createCompany, del, get, type TestCompany } from '../support/company.ts'
import { expectError } from '../support/expect-error.ts'
import { buildUpload } from '../support/forms.ts'
import { makePng } from '../support/images.ts'
import { startTestApp } from '../support/test-app.ts'
import { findPictures, keyOf, listUploads } from '../support/uploads.ts'
import { eventBy, findEvents, findWorkspace, randomSlug } from '../support/workspaces.ts'

const service = await startTestApp({ environment: {} })
const { app, as, createPerson } = service

const iconOf = ({ url }: Pick<TestCompany, 'url'>) => `${url}/icon`

/** A company with an icon. */
async function startCompany() {
  const company = await createCompany(service)
  const upload = { method: 'POST', url: iconOf(company), ...buildUpload(await makePng()) } as const
  const { iconUrl } = (await as(company.owner, upload)).json<{ iconUrl: string }>()
  return { ...company, iconUrl }
}

describe('200', () => {
  it.each(['owner', 'admin'] as const)(
    'removes the icon and its file, and appends an event: %s',
    async (role) => {
      const company = await startCompany()
      const { workspace, iconUrl } = company
      const before = await findEvents(service, workspace)
      const answer = await as(company[role], del(iconOf(company)))
      expect(answer.statusCode).toBe(200)
      expect(answer.json()).toEqual({ ok: true })
      expect((await as(company.viewer, get(company.url))).json()).toMatchObject({ iconUrl: null })
      expect(await findWorkspace(service, workspace)).toMatchObject({ icon_key: null })
      expect(await findEvents(service, workspace)).toEqual([
        ...before,
        eventBy(
          company[role],
          { type: 'workspace', id: workspace.id },
          { type: 'workspace.icon_removed', summary: `${company[role].name} removed the icon of Acme` },
        ),
      ])
      expect(await listUploads(service)).not.toContain(keyOf(iconUrl))
      expect((await findPictures(service)).map(({ key }) => key)).not.toContain(keyOf(iconUrl))
      expect((await app.inject(new URL(iconUrl).pathname)).statusCode).toBe(404)
    },
  )

  it('succeeds without an icon, and appends no event', async () => {
    const company = await createCompany(service)
    const before = await findEvents(service, company.workspace)
    expect((await as(company.owner, del(iconOf(company)))).json()).toEqual({ ok: true })
    expect(await findEvents(service, company.workspace)).toEqual(before)
  })

  it('appends one event when it is sent several times at once', async () => {
    const company = await startCompany()
    const before = await findEvents(service, company.workspace)
    const remove = () => as(company.owner, del(iconOf(company)))
    const answers = await Promise.all([remove(), remove(), remove()])
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200])
    expect(await findEvents(service, company.workspace)).toHaveLength(before.length + 1)
  })
})

describe('401', () => {
  it('returns 401 without a key', async () => {
    const company = await startCompany()
    expectError(await app.inject(del(iconOf(company))), errors.apiKeyRequired)
  })
})

describe('403', () => {
  it('returns 403 to members, viewers and people who are not members', async () => {
    const company = await startCompany()
    for (const role of ['member', 'viewer'] as const)
      expectError(await as(company[role], del(iconOf(company))), errors.roleInsufficient)
    expectError(await as(await createPerson(), del(iconOf(company))), errors.notAMember)
    expect((await as(company.owner, get(company.url))).json()).toMatchObject({ iconUrl: company.iconUrl })
  })
})

describe('404', () => {
  it('returns 404 for an unknown slug', async () => {
    const { owner } = await startCompany()
    expectError(await as(owner, del(`/v1/workspaces/${randomSlug()}/icon`)), errors.notFound)
  })
})
