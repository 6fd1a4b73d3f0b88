import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { LightMyRequestResponse } from 'fastify'
import PostalMime, { type Email } from 'postal-mime'
import { expect } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { startTestApp, type TestApp, type TestAppOptions } from '../support/test-app.ts'

/** A simple browser: keeps cookies, and sends forms of the last page. */
export interface Visitor {
  cookies: Map<string, string>
  /** The last page. */
  page: () => string
  get: (url: string, headers?: Record<string, string>) => Promise<LightMyRequestResponse>
  /** Follows redirects from a path. Returns the last answer. */
  open: (url: string) => Promise<LightMyRequestResponse>
  /**
   * Sends a form with the CSRF token of the last page. Returns the page that shows its result, if it is shown once or is a
   * refusal; otherwise the redirect.
   */
  submit: (
    url: string,
    fields?: Record<string, string>,
    headers?: Record<string, string>,
  ) => Promise<LightMyRequestResponse>
  /** Sends a form as `submit` does, and returns its own answer. */
  post: Visitor['submit']
}

/** The header `Cookie` of a browser. */
export function cookiesOf({ cookies }: Pick<Visitor, 'cookies'>): string {
  return [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
}

/** The URL of the stream that a page with a live list names. */
export function changesUrlOf(page: string): string {
  return /data-live="([^"]+)"/.exec(page)?.[1] ?? ''
}

export function createVisitor({ app }: Pick<TestApp, 'app'>): Visitor {
  const cookies = new Map<string, string>()
  let page = ''

  async function send(request: {
    method: 'GET' | 'POST'
    url: string
    payload?: string
    headers: Record<string, string>
  }) {
    const answer = await app.inject({
      ...request,
      headers: {
        accept: 'text/html',
        ...(cookies.size > 0 && {
          cookie: cookiesOf({ cookies }),
        }),
        ...request.headers,
      },
    })
    for (const { name, value, maxAge, expires } of answer.cookies) {
      if (maxAge === 0 || (expires && expires.getTime() <= 0)) cookies.delete(name)
      else cookies.set(name, value)
    }
    if (String(answer.headers['content-type']).startsWith('text/html')) page = answer.body
    return answer
  }

  const visitor: Visitor = {
    cookies,
    page: () => page,
    get: (url, headers = {}) => send({ method: 'GET', url, headers }),
    async open(url) {
      let answer = await visitor.get(url)
      for (let i = 0; i < 5 && answer.headers.location !== undefined; i++)
        answer = await visitor.get(answer.headers.location)
      return answer
    },
    async submit(url, fields = {}, headers = {}) {
      const answer = await visitor.post(url, fields, headers)
      const { location } = answer.headers
      return location?.includes('flash=') ? visitor.get(location, headers) : answer
    },
    post: (url, fields = {}, headers = {}) =>
      send({
        method: 'POST',
        url,
        payload: new URLSearchParams({ _csrf: csrfTokenOf(page), ...fields }).toString(),
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      }),
  }
  return visitor
}

/** The CSRF token of a page. */
export function csrfTokenOf(page: string): string {
  return /name="_csrf"\s+value="([^"]*)"/.exec(page)?.[1] ?? ''
}

/** The fields of a form of a page with their values, as a browser sends them. */
export function fieldsOf(page: string, action: string): Record<string, string> {
  const [form = ''] = new RegExp(`<form[^>]*action="${action}"[^]*?</form>`).exec(page) ?? []
  const valueOf = (tag: string) => decode(/\bvalue="([^"]*)"/.exec(tag)?.[1] ?? '')
  const inputs = [...form.matchAll(/<input[^>]*\bname="([^"]*)"[^>]*>/g)].map(
    ([tag, name]) => [name, valueOf(tag)] as const,
  )
  const areas = [...form.matchAll(/<textarea[^>]*\bname="([^"]*)"[^>]*>([^]*?)<\/textarea>/g)].map(
    ([, name, text = '']) => [name, decode(text).replaceAll(/\r?\n/g, '\r\n')] as const,
  )
  return Object.fromEntries([...inputs, ...areas]) as Record<string, string>
}

function decode(text: string): string {
  const characters: Record<string, string> = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' }
  return text.replaceAll(/&(lt|gt|quot|#39|amp);/g, (_, name: string) => characters[name] ?? '')
}

/** The text of the notice that a page shows once; undefined if it shows none. */
export function noticeOn(page: string): string | undefined {
  const [, text] = /<div class="notice" role="status">\s*<p>([^]*?)<\/p>/.exec(page) ?? []
  return text?.replaceAll(/<[^>]*>/g, '')
}

/** Starts the service with running jobs, which write mail to a folder. */
export async function startWebsite(
  options: TestAppOptions = {},
): Promise<TestApp & { waitForMail: (address: string, subject: RegExp) => Promise<Mail> }> {
  const service = await startTestApp({ ...options, jobs: true })
  const parsed = new Map<string, Email>()
  const folder = join(service.config.dataDir, 'mail')
  // Mails of the files before.
  const seen = new Set(await readdir(folder).catch(() => []))

  async function parse(name: string): Promise<Email> {
    const mail = parsed.get(name) ?? (await PostalMime.parse(await readFile(join(folder, name))))
    parsed.set(name, mail)
    return mail
  }

  async function findMail(address: string, subject: RegExp): Promise<Mail | undefined> {
    const names = await readdir(folder).catch(() => [])
    for (const name of names.filter((file) => file.endsWith('.eml') && !seen.has(file)).toSorted()) {
      const mail = await parse(name)
      if (mail.to?.[0]?.address !== address || !subject.test(mail.subject ?? '')) continue
      seen.add(name)
      const text = mail.text ?? ''
      const url = /https?:\/\/\S+/.exec(text)?.[0]
      const recipientName = mail.to[0].name
      return {
        subject: mail.subject ?? '',
        text,
        recipientName,
        path: url === undefined ? '' : new URL(url).pathname,
      }
    }
    return undefined
  }

  return {
    ...service,
    /** Waits for a mail that was not returned before. */
    waitForMail: (address, subject) =>
      eventually(async () => {
        const mail = await findMail(address, subject)
        if (!mail) throw new Error(`there is no mail to ${address} yet`)
        return mail
      }),
  }
}

export interface Mail {
  subject: string
  text: string
  recipientName: string
  /** The path of its link. */
  path: string
}

export const password = 'correct horse battery'

type Website = Awaited<ReturnType<typeof startWebsite>>

/** Signs up, follows the link in the mail, and returns the signed-in visitor. */
export async function signUp(
  website: Website,
  { name = 'Grace Hopper', email }: { name?: string; email: string },
): Promise<Visitor> {
  const visitor = createVisitor(website)
  await visitor.get('/sign-up')
  const asked = await visitor.submit('/sign-up', { name, email, password })
  expect(asked.statusCode, asked.body).toBe(200)
  const { path } = await website.waitForMail(email, /Verify/)
  await visitor.get(path)
  const confirmed = await visitor.submit(path, { password })
  expect(confirmed.statusCode, confirmed.body).toBe(303)
  return visitor
}

/** Signs in a person of the test with a link. */
export async function signInAs(website: TestApp, { id }: { id: string }): Promise<Visitor> {
  const visitor = createVisitor(website)
  const { url } = await website.services.credentials.createLink('sign_in', id)
  const path = new URL(url).pathname
  await visitor.get(path)
  expect((await visitor.submit(path)).statusCode).toBe(303)
  return visitor
}

/** A page as it reads, without its links and isolated names. */
export function withoutLinks(page: string): string {
  return page.replaceAll(/<\/?(?:a|bdi)\b[^>]*>/g, '')
}
