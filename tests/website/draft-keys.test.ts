import { describe, expect, it } from 'vitest'
import { createCompany } from '../support/company.ts'
import { createSeed } from '../support/seeds.ts'
import { cookiesOf, createVisitor, fieldsOf, signInAs, startWebsite } from './visitor.ts'

const website = await startWebsite()
const company = await createCompany(website)
const { member, owner } = company
const path = '/settings/draft-keys'
const json = { accept: 'application/json' }

interface Keys {
  tag: string
  textKey: string
  nameKey: string
}

describe('the keys of drafts', () => {
  it('are 256 bits each, the same in all sessions of a person, and others for another', async () => {
    const of = async (person: { id: string }) =>
      (await (await signInAs(website, person)).get(path, json)).json<Keys>()
    const keys = await of(member)
    expect(Object.keys(keys)).toEqual(['tag', 'textKey', 'nameKey', 'former'])
    for (const key of [keys.textKey, keys.nameKey]) expect(Buffer.from(key, 'base64')).toHaveLength(32)
    expect(await of(member)).toEqual(keys)
    const { tag, textKey, nameKey } = await of(owner)
    expect(new Set([keys.tag, keys.textKey, keys.nameKey, tag, textKey, nameKey]).size).toBe(6)
  })

  it('are not cached, and for pages of the website alone', async () => {
    const visitor = await signInAs(website, member)
    const answer = await visitor.get(path, { ...json, 'sec-fetch-site': 'same-origin' })
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['cache-control']).toBe('private, no-store')
    expect(answer.headers['cross-origin-resource-policy']).toBe('same-origin')
    // Without it, pages of other origins read no answer to a request with cookies (Fetch §3.3.3).
    expect(answer.headers['access-control-allow-credentials']).toBeUndefined()
    for (const site of ['cross-site', 'same-site', 'none']) {
      const refused = await visitor.get(path, { ...json, 'sec-fetch-site': site })
      expect(refused.statusCode).toBe(403)
      expect(refused.body).not.toContain('Key')
    }
  })

  it('need a session: neither strangers, API keys nor ended sessions get them', async () => {
    const visitor = await signInAs(website, member)
    const copy = { ...json, cookie: cookiesOf(visitor) }
    await visitor.get('/onboarding')
    const out = await visitor.submit('/sign-out')
    expect(out.headers['clear-site-data']).toBe('"storage"')
    const attempts = [{}, { authorization: `Bearer ${member.apiKey}` }, copy]
    for (const headers of attempts) {
      const answer = await website.app.inject({ method: 'GET', url: path, headers: { ...json, ...headers } })
      expect(answer.statusCode).toBe(401)
      expect(answer.json()).toMatchObject({ code: 'sign_in_required' })
      expect(answer.body).not.toContain('textKey')
    }
  })

  it('are on no page, which has the tag of the person alone', async () => {
    const visitor = await signInAs(website, member)
    const { tag, textKey, nameKey } = (await visitor.get(path, json)).json<Keys>()
    const { body } = await visitor.get(`/w/${company.workspace.slug}/seeds/new`)
    expect(body).toContain(`<body data-drafts="${tag}">`)
    expect(body).not.toContain(textKey)
    expect(body).not.toContain(nameKey)
    expect((await createVisitor(website).get('/sign-in')).body).toContain('<body >')
  })
})

describe('a form that a script sends', () => {
  async function openSeed() {
    const seed = await createSeed(website, member, company)
    const visitor = await signInAs(website, member)
    const page = `/w/${company.workspace.slug}/seeds/${seed.id}`
    const { body } = await visitor.get(page)
    const form = fieldsOf(body, `${page}/comments`)
    const send = (fields: Record<string, string>, headers: Record<string, string> = json) =>
      visitor.post(
        `${page}/comments`,
        { ...form, ...fields },
        { 'sec-fetch-site': 'same-origin', referer: website.config.webUrl + page, ...headers },
      )
    return { visitor, page, send }
  }

  it('is told where it leads, and whether it has taken effect', async () => {
    const { page, send } = await openSeed()
    const answer = await send({ body: 'Sent' })
    expect(answer.statusCode).toBe(200)
    expect(answer.headers.location).toBeUndefined()
    expect(answer.headers['cache-control']).toBe('private, no-store')
    const sent = answer.json<{ location: string; done: boolean }>()
    expect(sent).toEqual({ location: expect.stringContaining(`${page}?flash=`) as string, done: true })
    expect((await send({ body: 'Sent' })).json()).toEqual(sent)
    // As a browser sends it.
    const native = await send({ body: 'Sent' }, {})
    expect(native.statusCode).toBe(303)
    expect(native.headers.location).toBe(sent.location)
  })

  it('has not taken effect when it is refused, has another token, or its session has ended', async () => {
    const { visitor, page, send } = await openSeed()
    const refusals = [await send({ body: 'x'.repeat(5001) }), await send({ body: 'Sent', _csrf: 'x' })]
    for (const answer of refusals) {
      expect(answer.statusCode).toBe(200)
      const { location, done } = answer.json<{ location: string; done: boolean }>()
      expect(done).toBe(false)
      expect(location).toContain(`${page}?flash=`)
      expect((await visitor.get(location)).statusCode).toBeGreaterThanOrEqual(400)
    }
    await visitor.get('/onboarding')
    await visitor.submit('/sign-out')
    const ended = await send({ body: 'Sent' })
    expect(ended.json()).toEqual({
      location: expect.stringContaining('/sign-in?done=form-kept&next=') as string,
      done: false,
    })
    visitor.cookies.clear()
    const unknown = await send({ body: 'Sent' })
    expect(unknown.statusCode).toBe(401)
  })

  it('is refused from other sites', async () => {
    const { send } = await openSeed()
    const answer = await send({ body: 'Sent' }, { ...json, 'sec-fetch-site': 'cross-site' })
    expect(answer.statusCode).toBe(403)
    expect(answer.json()).toMatchObject({ code: 'form_expired' })
  })
})
