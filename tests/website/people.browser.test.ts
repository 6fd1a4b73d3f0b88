import { beforeAll, describe, expect, it } from 'vitest'
import { createCompany, createInvite, createTeam, post, randomEmail } from '../support/company.ts'
import { longCompany, longNames } from '../support/long-texts.ts'
import { check, hasBrowser, sizes } from './browser.ts'
import { openAs, startSite, type Site } from './site.ts'

describe.runIf(hasBrowser)('people and invites in a browser', () => {
  let site: Site

  beforeAll(async () => {
    site = await startSite()
  })

  it('several people are invited, and managed by one menu each', async () => {
    const { website, origin } = site
    const company = await createCompany(website, longCompany)
    const team = await createTeam(website, company.owner, company, 'Looms')
    await website.as(company.owner, post(`${team.url}/members`, { userId: company.admin.id }))
    const base = `${origin}/w/${company.workspace.slug}`
    const { page, complaints } = await openAs(site, company.owner, {
      viewport: sizes.desk,
    })
    await page.goto(`${base}/invites`)
    await check(page)
    const [first, second] = [randomEmail(), randomEmail()]
    await page.getByLabel('Email addresses').fill(`${first}, ${second}\nnobody, ${company.member.email}`)
    await page.getByText('Add them to teams').click()
    await page.getByLabel('Looms').check()
    await check(page)
    await page.getByRole('button', { name: 'Send invites' }).click()
    await page.getByText('2 of 4 addresses invited').waitFor()
    expect(await page.getByLabel(`Link for ${first}`).inputValue()).toContain('/invites/')
    expect(await page.getByLabel('Email addresses').inputValue()).toBe('nobody')
    await check(page)

    // By keyboard.
    const menu = page.getByLabel(`Manage the invite to ${second}`)
    await menu.focus()
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Invite as viewer' }).last().waitFor()
    await check(page)
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByText('is now invited as a viewer.').waitFor()
    await check(page)

    for (const path of [
      '/people',
      `/people?team=${team.id}&role=admin`,
      '/people?q=nobody-here',
      `/teams/${team.id}`,
    ]) {
      await page.goto(base + path)
      await check(page)
    }
    expect(complaints).toEqual([])
    await page.context().close()
  })

  it.each([true, false])('invites are declined, with JavaScript: %s', async (javaScriptEnabled) => {
    const { website, origin } = site
    const company = await createCompany(website, longCompany)
    const person = await website.createPerson({ name: longNames[4] })
    const { page, complaints } = await openAs(site, person, {
      viewport: sizes.phone,
      // axe needs it.
      javaScriptEnabled,
    })
    const checkIfPossible = async () => {
      if (javaScriptEnabled) await check(page)
    }
    const { inviteUrl } = await createInvite(website, company.owner, company, { email: person.email })
    await page.goto(inviteUrl)
    await checkIfPossible()
    await page.getByRole('button', { name: 'Decline' }).click()
    await page.getByText('This invite was declined.').waitFor()
    await checkIfPossible()
    await createInvite(website, company.admin, company, { email: person.email })
    await page.goto(`${origin}/onboarding`)
    await checkIfPossible()
    await page.getByRole('button', { name: `Decline the invite to ${company.workspace.name}` }).click()
    await page.getByText('The invite was declined.').waitFor()
    await checkIfPossible()
    expect(complaints).toEqual([])
    await page.context().close()
  })
})
