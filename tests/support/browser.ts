/** A person at a browser, as far as it takes to sign in and to decide: cookies, redirects, forms. */
export class Browser {
  readonly #cookies = new Map<string, { value: string; path: string }>()
  readonly #origin: string

  /** `origin` is the website; what leads elsewhere is not followed. */
  constructor(origin: string) {
    this.#origin = origin
  }

  /** Follows redirects for as long as they stay on the website. */
  async open(url: string | URL, init: RequestInit = {}): Promise<Response> {
    const target = new URL(url, this.#origin)
    const headers = new Headers(init.headers)
    headers.set('accept', 'text/html')
    headers.set('cookie', this.#cookiesFor(target.pathname))
    const answer = await fetch(target, { ...init, headers, redirect: 'manual' })
    for (const cookie of answer.headers.getSetCookie()) this.#keep(cookie)
    const location = answer.headers.get('location')
    if (location === null) return answer
    const next = new URL(location, target)
    return next.origin === this.#origin ? this.open(next) : answer
  }

  /** Sends a form of a page that was opened, with its hidden fields. */
  async submit(page: string, action: string, fields: Record<string, string>): Promise<Response> {
    const hidden = [...page.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(
      ([, name, value]): [string, string] => [String(name), String(value)],
    )
    return this.open(action, {
      method: 'POST',
      headers: { origin: this.#origin, 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ ...Object.fromEntries(hidden), ...fields }).toString(),
    })
  }

  async signIn(email: string, password: string): Promise<void> {
    const page = await (await this.open('/sign-in')).text()
    await this.submit(page, '/sign-in', { email, password })
  }

  #cookiesFor(path: string): string {
    return [...this.#cookies]
      .filter(([, cookie]) => path.startsWith(cookie.path))
      .map(([name, { value }]) => `${name.split(' ')[0]}=${value}`)
      .join('; ')
  }

  #keep(cookie: string): void {
    const [pair = ''] = cookie.split(';')
    const name = pair.slice(0, pair.indexOf('='))
    const value = pair.slice(pair.indexOf('=') + 1)
    const path = /path=([^;]+)/i.exec(cookie)?.[1] ?? '/'
    const key = `${name} ${path}`
    if (value === '' || /expires=Thu, 01 Jan 1970|max-age=0/i.test(cookie)) this.#cookies.delete(key)
    else this.#cookies.set(key, { value, path })
  }
}
