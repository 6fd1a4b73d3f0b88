import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createCompany, del } from '../support/company.ts'
import { createSeed } from '../support/seeds.ts'
import { createVisitor, fieldsOf, signInAs, startWebsite } from './visitor.ts'

const website = await startWebsite()
const company = await createCompany(website)
const base = `/w/${company.workspace.slug}`
const viewer = await signInAs(website, company.viewer)

/** The heading of a page, and the way on from it. */
function readErrorPage(body: string) {
  const main = /<main[^]*<\/main>/.exec(body)?.[0] ?? ''
  const [, href, label] = /class="button" href="([^"]*)"\s*>([^<]*)</.exec(main) ?? []
  return { title: /<h1>([^<]*)</.exec(main)?.[1], href, label: label?.trim() }
}

describe('the page of an expired link', () => {
  it.each([
    ['/verify-email/x', '/verify'],
    ['/reset/x', '/forgot'],
    ['/sign-in/link/x', '/sign-in/link'],
  ])('%s returns 404 and links to the form that sends a new link', async (path, href) => {
    const page = await createVisitor(website).get(path)
    expect(page.statusCode).toBe(404)
    expect(readErrorPage(page.body)).toEqual({
      title: 'This link has expired',
      label: 'Send me a new link',
      href,
    })
    expect((await createVisitor(website).get(href)).body).toContain('Send link')
  })

  it('returns 404 for an unknown invite, and suggests asking the person who sent it', async () => {
    const page = await viewer.get('/invites/unknown')
    expect(page.statusCode).toBe(404)
    expect(page.body).toContain('Ask the person who invited you for a new link.')
  })
})

describe('the error page inside a workspace', () => {
  it.each([
    ['/invites', 403, 'You do not have access'],
    ['/seeds/no-such-seed', 404, 'Page not found'],
    ['/no/such/page', 404, 'Page not found'],
  ])('%s keeps the navigation for members', async (path, status, title) => {
    const page = await viewer.get(base + path)
    expect(page.statusCode).toBe(status)
    expect(readErrorPage(page.body)).toEqual({
      title,
      label: 'Go to the workspace',
      href: base,
    })
    expect(page.body).toContain(`href="${base}/seeds"`)
    expect(page.body).not.toContain('aria-current="page"')
  })

  it('names an owner to ask when the role does not permit the page', async () => {
    const { body } = await viewer.get(`${base}/seeds/new`)
    const text = body.replaceAll(/<[^>]*>/g, '').replaceAll(/\s+/g, ' ')
    expect(text).toContain(
      'You are a viewer, and this role does not allow this. Ask an owner or an admin, such as Olga Owner.',
    )
  })

  it('explains that a missing seed may be in another workspace', async () => {
    const { body } = await viewer.get(`${base}/seeds/no-such-seed`)
    expect(body).toContain('There is no seed at this address, or it is in a workspace that you are not in.')
  })

  it('says who deleted the seed, and lets those restore it who may', async () => {
    const seed = await createSeed(website, company.member, company, { title: 'Fewer' })
    const path = `${base}/seeds/${seed.id}`
    await website.as(company.member, del(`/v1/seeds/${seed.id}`))
    const [creator, admin] = await Promise.all([
      signInAs(website, company.member),
      signInAs(website, company.admin),
    ])
    for (const [visitor, mayRestore] of [
      [viewer, false],
      [creator, true],
      [admin, true],
    ] as const)
      for (const page of [path, `${path}/edit`, `${path}/evidence/${randomUUID()}`]) {
        const { statusCode, body } = await visitor.get(page)
        expect(statusCode).toBe(visitor === viewer && page.endsWith('/edit') ? 403 : 404)
        if (statusCode === 403) continue
        expect(body.replaceAll(/<[^>]*>/g, '').replaceAll(/\s+/g, ' ')).toContain(
          `${company.member.name} deleted the seed Fewer`,
        )
        expect(body.includes(`action="${path}/restore"`)).toBe(mayRestore)
      }
    expect((await creator.submit(`${path}/comments`, { body: 'Kept' })).body).toContain('Kept')
    await creator.submit(`${path}/restore`, {})
    expect((await viewer.get(path)).statusCode).toBe(200)
    expect((await viewer.get(`${path}/evidence/${randomUUID()}`)).body).not.toContain('deleted the seed')
  })

  it('still shows the error message when the page contains the same text', async () => {
    const message = 'Somebody else has changed the status meanwhile: it is validating now. Nothing was saved.'
    const owner = await signInAs(website, company.owner)
    const seed = await createSeed(website, company.owner, company, { title: 'Fewer', summary: message })
    await owner.get(`${base}/seeds/${seed.id}`)
    const opened = fieldsOf(owner.page(), `${base}/seeds/${seed.id}/status`)
    await owner.submit(`${base}/seeds/${seed.id}/status`, { ...opened, status: 'validating' })
    const refused = await owner.submit(`${base}/seeds/${seed.id}/status`, { ...opened, status: 'dropped' })
    expect(refused.body).toMatch(new RegExp(`role="alert">${message}`))
  })

  it('returns 403 to non-members, without the navigation or the name of the workspace', async () => {
    const stranger = await signInAs(website, await website.createPerson())
    for (const path of ['', '/seeds', '/no/such/page']) {
      const page = await stranger.get(base + path)
      expect(page.statusCode).toBe(403)
      expect(readErrorPage(page.body)).toEqual({
        title: 'You do not have access',
        label: 'Go to your workspaces',
        href: '/onboarding',
      })
      expect(page.body).not.toContain(`href="${base}`)
      expect(page.body).not.toContain(company.workspace.name)
    }
  })
})
