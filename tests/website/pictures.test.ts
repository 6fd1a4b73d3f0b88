import { expect, it } from 'vitest'
import { createCompany } from '../support/company.ts'
import { buildUpload } from '../support/forms.ts'
import { makePng } from '../support/images.ts'
import { startTestApp } from '../support/test-app.ts'
import { noticeOn, signInAs } from './visitor.ts'

const website = await startTestApp()

it('a person removes their photo, which has a button only while there is one', async () => {
  const person = await website.createPerson()
  const visitor = await signInAs(website, person)
  const remove = '/settings/profile/photo/remove'
  expect((await visitor.get('/settings/profile')).body).not.toContain(remove)
  await website.as(person, { method: 'POST', url: '/v1/me/photo', ...buildUpload(await makePng()) })
  expect((await visitor.get('/settings/profile')).body).toContain(`action="${remove}"`)
  const removed = await visitor.submit(remove)
  expect(noticeOn(removed.body)).toBe('Your photo was removed.')
  expect(removed.body).not.toContain(remove)
})

it('an admin removes the icon of a workspace; members cannot', async () => {
  const company = await createCompany(website)
  const settings = `/w/${company.workspace.slug}/settings`
  const remove = `${settings}/icon/remove`
  await website.as(company.owner, {
    method: 'POST',
    url: `${company.url}/icon`,
    ...buildUpload(await makePng()),
  })
  const member = await signInAs(website, company.member)
  expect((await member.get(settings)).body).not.toContain(remove)
  expect((await member.submit(remove)).statusCode).toBe(403)
  const admin = await signInAs(website, company.admin)
  expect((await admin.get(settings)).body).toContain(`action="${remove}"`)
  const removed = await admin.submit(remove)
  expect(noticeOn(removed.body)).toBe('The icon was removed.')
  expect(removed.body).not.toContain(remove)
})
