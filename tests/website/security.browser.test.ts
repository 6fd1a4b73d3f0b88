import { generateSync } from 'otplib'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { createCompany, randomEmail } from '../support/company.ts'
import { longCompany, longNames, longWorkspaceName } from '../support/long-texts.ts'
import type { TestApp, TestPerson } from '../support/test-app.ts'
import { createWorkspace } from '../support/workspaces.ts'
import { check, hasBrowser, openPage, sizes } from './browser.ts'
import { startSite, type Site } from './site.ts'
import { password, signUp } from './visitor.ts'

/** Adds a device that creates and uses passkeys. */
async function addAuthenticator(page: Page) {
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('WebAuthn.enable')
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  return { cdp, authenticatorId }
}

/** Somebody who has signed up, with an API key. */
async function findPerson({ services }: TestApp, email: string): Promise<TestPerson> {
  const user = await services.accounts.findByEmail(email)
  if (!user) throw new Error(`${email} has not signed up`)
  const principal = { user, source: 'system', apiKeyId: null, sessionId: null, grantId: null } as const
  const { id, secret } = await services.apiKeys.create(principal, { name: 'Test key' })
  return { id: user.id, name: user.name, email, apiKey: secret, apiKeyId: id }
}

describe.runIf(hasBrowser)('the security pages in a browser', () => {
  let site: Site

  beforeAll(async () => {
    site = await startSite()
  })

  it('passkeys and two-step sign-in work', async () => {
    const { browser, origin, website } = site
    const email = randomEmail()
    await signUp(website, { name: longNames[0], email })
    const { context, page, complaints } = await openPage(browser, { viewport: sizes.desk })
    const { cdp, authenticatorId } = await addAuthenticator(page)
    const press = (name: string) => page.getByRole('main').getByRole('button', { name, exact: true }).click()
    const signOut = async () => {
      await page.locator('summary', { hasText: 'Account of' }).click()
      await page.getByRole('navigation').getByRole('button', { name: 'Sign out', exact: true }).click()
      await page.getByText('You are signed out.').waitFor()
    }
    const signInWithPassword = async () => {
      await page.getByLabel('Email address').fill(email)
      await page.getByLabel('Password').fill(password)
      await press('Sign in')
    }

    // Adds a passkey.
    await page.goto(`${origin}/sign-in`)
    await check(page)
    await signInWithPassword()
    await page.getByRole('heading', { name: 'Create a workspace' }).waitFor()
    await page.goto(`${origin}/settings/security`)
    await check(page)
    await page.getByRole('link', { name: 'Add Passkeys' }).click()
    await check(page)
    await page.getByLabel('Name of the new passkey').fill('My phone')
    await press('Add passkey')
    await page.getByText('The passkey “My phone” was added.').waitFor()
    await check(page)

    // The device has one already.
    await page.getByLabel('Name of the new passkey').fill('Again')
    await press('Add passkey')
    await page.getByText('This device already has a passkey').waitFor()

    // Signs in with it.
    await signOut()
    await press('Sign in with a passkey')
    await page.waitForURL(`${origin}/onboarding`)

    // A request that is cancelled leaves the page as it is.
    await signOut()
    await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false })
    await press('Sign in with a passkey')
    await page.getByText('cancelled or took too long').waitFor()
    await check(page)
    await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true })
    await press('Sign in with a passkey')
    await page.waitForURL(`${origin}/onboarding`)

    // Sets up two-step sign-in, and signs in with it.
    await page.goto(`${origin}/settings/security/two-step`)
    await check(page)
    await press('Set up two-step sign-in')
    await page.getByRole('heading', { name: 'Set up two-step sign-in' }).waitFor()
    await check(page)
    expect(await page.evaluate('document.querySelector("img.qr").naturalWidth > 0')).toBe(true)
    const secret = (await page.getByLabel('Key', { exact: true }).inputValue()).replaceAll(' ', '')
    const now = () => Math.floor(Date.now() / 1000)
    await page.getByLabel('Code from the app').fill(generateSync({ secret, epoch: now() }))
    await press('Turn on')
    await page.getByRole('heading', { name: 'Recovery codes' }).waitFor()
    await check(page)
    const [recoveryCode = ''] = (await page.getByLabel('Recovery codes').inputValue()).split('\n')
    await page.getByRole('link', { name: 'I have stored them' }).click()
    await page.getByText('You have 10 recovery codes left').waitFor()
    await check(page)
    await signOut()
    await signInWithPassword()
    await page.getByRole('heading', { name: 'Two-step sign-in' }).waitFor()
    await check(page)
    await page.getByLabel('Code from your authenticator app').fill('000000')
    await press('Sign in')
    await page.getByText('The code is incorrect').waitFor()
    await check(page)
    await page.getByLabel('Code from your authenticator app').fill(recoveryCode)
    await press('Sign in')
    await page.waitForURL(`${origin}/onboarding`)

    // Is asked again.
    await website.db.execute('update sessions set proven_at = null')
    await page.goto(`${origin}/settings/security/passkeys`)
    await page.getByRole('heading', { name: 'Confirm that it is you' }).waitFor()
    await check(page)
    await press('Confirm with a passkey')
    await page.getByRole('heading', { name: 'Passkeys', exact: true }).waitFor()
    for (const path of ['sessions', 'password', 'providers', 'api-keys', 'email']) {
      await page.goto(`${origin}/settings/security/${path}`)
      await check(page)
    }
    await createWorkspace(website, await findPerson(website, email), { name: longWorkspaceName })
    await page.goto(`${origin}/settings/security/api-keys`)
    await page.getByLabel('Key name').fill('Dashboard')
    await page.getByText('Restrict what the key may do').click()
    await page.getByLabel('When it expires').selectOption('In 30 days')
    // The workspaces are shown when they matter, so that nobody checks one in vain.
    expect(await page.getByLabel(longWorkspaceName).isVisible()).toBe(false)
    await page.getByLabel('Where it may be used').selectOption('Only in some workspaces')
    await page.getByLabel(longWorkspaceName).check()
    await check(page)
    await press('Create key')
    await page.getByText('It is not shown again.').waitFor()
    await page.getByText(`only in ${longWorkspaceName}`).waitFor()
    await page.getByRole('link', { name: 'Change the key Dashboard' }).click()
    await page.getByRole('heading', { name: 'Change an API key' }).waitFor()
    expect(await page.getByLabel(longWorkspaceName).isChecked()).toBe(true)
    await check(page)
    await press('Rotate key')
    await page.getByText('It is not shown again.').waitFor()
    await page.goto(`${origin}/settings/security/email`)
    const fresh = randomEmail()
    await page.getByLabel('New email address').fill(fresh)
    await press('Send link')
    await page.getByRole('heading', { name: 'Waiting for confirmation' }).waitFor()
    await check(page)
    await page.goto(origin + (await website.waitForMail(fresh, /Confirm/)).path)
    await check(page)
    await press('Change the address')
    await page.getByText('Email address changed.').waitFor()
    await page.getByRole('main').getByText(fresh).waitFor()
    expect(complaints).toEqual([])
    await context.close()
  })

  it('an invited person can join with a passkey', async () => {
    const { browser, origin, website } = site
    const { owner, url } = await createCompany(website, longCompany)
    const email = randomEmail()
    await website.as(owner, {
      method: 'POST',
      url: `${url}/invites`,
      payload: { email, role: 'member' },
    })
    const { path } = await website.waitForMail(email, /invited you/)
    const { context, page, complaints } = await openPage(browser, { viewport: sizes.desk })
    await addAuthenticator(page)
    const join = page.getByRole('button', { name: 'Join with a passkey instead of a password' })
    await page.goto(origin + path)
    await check(page)
    // Without a name, the browser asks for it.
    await join.click()
    expect(await page.evaluate('document.activeElement.id')).toBe('name')
    await page.getByLabel('Your name').fill(longNames[4])
    await join.click()
    await page.getByText(`Account of ${longNames[4]}`).waitFor({ state: 'attached' })
    await check(page)
    await page.goto(`${origin}/settings/security/passkeys`)
    await page.getByText('Chrome on Linux').first().waitFor()
    await page.goto(origin + path)
    await page.getByText('This invite was already accepted.').waitFor()
    await check(page)
    await context.clearCookies()
    await page.goto(origin + path)
    await page.getByRole('link', { name: 'Sign in', exact: true }).last().waitFor()
    await check(page)
    expect(complaints).toEqual([])
    await context.close()
  })
})
