import { expect, it } from 'vitest'
import { encodedTexts } from './hostile.ts'
import { randomEmail } from '../support/company.ts'
import {
  cookiesOf,
  createVisitor,
  csrfTokenOf,
  signInAs,
  startWebsite,
  type Visitor,
} from '../website/visitor.ts'

const website = await startWebsite()
const { app, log } = website
const email = randomEmail()
const person = await website.createPerson({ email })
const stranger = createVisitor(website)

const paths = [
  '/invites/TEXT',
  '/invites/TEXT/decline',
  '/invites/TEXT/switch',
  '/invites/TEXT/sign-up',
  '/invites/TEXT/passkey',
  '/invites/TEXT/passkey/options',
  '/reset/TEXT',
  '/verify-email/TEXT',
  '/sign-in/link/TEXT',
  '/sign-in/take-back/TEXT',
  '/sign-in/with/TEXT',
  '/sign-in/with/TEXT/callback',
  '/w/TEXT',
  '/w/TEXT/settings',
  '/w/TEXT/seeds?q=TEXT&view=TEXT&cursor=TEXT&trail=TEXT',
  '/w/TEXT/seeds/TEXT?history=TEXT',
  '/w/TEXT/seeds/TEXT/edit',
  '/w/TEXT/people/TEXT',
  '/w/TEXT/activity?type=TEXT&actor=TEXT&person=TEXT',
  '/w/TEXT/activity/changes',
  '/w/TEXT/members/TEXT/remove',
  '/w/TEXT/teams/TEXT',
  '/settings/security/api-keys/TEXT/revoke',
  '/agent/oauth/consent/TEXT',
  '/sign-in?next=TEXT&done=TEXT',
  '/onboarding?done=TEXT',
  '/pictures/TEXT',
  '/docs/TEXT',
]

/** What a browser sends that has just opened a page with a form. */
async function openForm(visitor: Visitor) {
  await visitor.get('/sign-in?next=/settings/security')
  if (visitor !== stranger) await visitor.get('/settings/security')
  const headers = {
    accept: 'text/html',
    cookie: cookiesOf(visitor),
  }
  const payload = new URLSearchParams({ _csrf: csrfTokenOf(visitor.page()) }).toString()
  return { headers, payload }
}

it.each(paths)('%s handles hostile paths without a 5xx status, and does not log them', async (path) => {
  const signsOut = path.endsWith('/switch')
  for (const visit of [() => signInAs(website, person), () => Promise.resolve(stranger)]) {
    let opened = await openForm(await visit())
    for (const text of encodedTexts) {
      if (signsOut) opened = await openForm(await visit())
      const { headers, payload } = opened
      const form = { ...headers, 'content-type': 'application/x-www-form-urlencoded' }
      const url = path.replaceAll('TEXT', text)
      for (const request of [
        { method: 'GET' as const, url, headers },
        { method: 'POST' as const, url, headers: form, payload },
      ]) {
        const answer = await app.inject(request)
        expect(answer.statusCode, `${request.method} ${url}: ${answer.body}`).toBeLessThan(500)
        // Or nothing behind the token of the form would be tried.
        expect(answer.body, url).not.toContain('Please try again')
        if (answer.headers.location !== undefined) expect(answer.headers.location).toMatch(/^\/(?![/\\])/)
      }
    }
  }
  expect(log.filter((line) => line.includes('%') || line.includes(email))).toEqual([])
})
