import type { Subject } from '../../bench/harness.ts'
import { withServicesOf } from '../../bench/services.ts'
import { Browser } from './browser.ts'

/** A person of a service in a process of its own. */
export interface Person {
  email: string
  password: string
  /** A browser in which they are signed in. */
  browser: Browser
}

/** Creates a person with a workspace, who is signed in. */
export async function createPerson(subject: Subject): Promise<Person> {
  const person = { name: 'Ada', email: 'ada@example.com', password: 'a password for one run' }
  await withServicesOf(subject, async ({ db, services }) => {
    await services.credentials.signUp(person)
    await db.$client.query('update users set email_verified_at = now()')
    const user = await services.accounts.findByEmail(person.email)
    if (!user) throw new Error('nobody has signed up')
    const principal = { user, source: 'web' as const, apiKeyId: null, sessionId: null, grantId: null }
    await services.workspaces.create(principal, { name: 'Acme', slug: 'acme' })
  })
  const browser = new Browser(subject.origin)
  await browser.signIn(person.email, person.password)
  return { ...person, browser }
}

/** Opens an authorization request and allows it. Returns the URL of the client that the browser is sent back to. */
export async function allow(browser: Browser, url: string | URL): Promise<URL> {
  const page = await (await browser.open(url)).text()
  const action = /<form[^>]*action="(\/agent\/oauth\/consent\/[^"]+)"/.exec(page)?.[1]
  const workspaceId = /name="workspaceId"[^>]*>\s*<option value="([^"]+)"/.exec(page)?.[1]
  if (action === undefined || workspaceId === undefined) throw new Error(`there is no consent form: ${page}`)
  const choice = { decision: 'allow', workspaceId }
  let answer = await browser.submit(page, action, choice)
  // The page says first that nothing is given of what the agent asks for.
  if (!answer.headers.has('location')) answer = await browser.submit(await answer.text(), action, choice)
  return new URL(String(answer.headers.get('location')))
}
