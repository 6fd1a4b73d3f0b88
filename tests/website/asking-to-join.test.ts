import { describe, expect, it } from 'vitest'
import { addPerson, createCompany } from '../support/company.ts'
import { createSeed, findParticipants } from '../support/seeds.ts'
import { noticeOn, signInAs, startWebsite } from './visitor.ts'

const website = await startWebsite()
const company = await createCompany(website)
const { owner, viewer, workspace } = company
const person = await addPerson(website, workspace, 'member', '山田 花子 <b>')
const [ofOwner, ofPerson, ofViewer] = await Promise.all([
  signInAs(website, owner),
  signInAs(website, person),
  signInAs(website, viewer),
])

async function openSeed() {
  const seed = await createSeed(website, owner, company, { title: 'مقاعد تتحرك' })
  const path = `/w/${workspace.slug}/seeds/${seed.id}`
  await ofOwner.get(path)
  return { seed, path }
}

const ask = (path: string, who: string, as = 'participant') =>
  ofOwner.submit(`${path}/ask`, { person: who, as })

describe('the form that asks somebody to join', () => {
  it('tells the person in the inbox, where a button joins', async () => {
    const { seed, path } = await openSeed()
    const answer = await ask(path, '花子')
    expect(noticeOn(answer.body)).toBe('You asked 山田 花子 &lt;b&gt; to join.')
    const inbox = (await ofPerson.get('/notifications')).body
    expect(inbox).toContain(`${owner.name} asks you to join مقاعد تتحرك`)
    expect(inbox).toContain(`formaction="${path}/join"`)
    expect(noticeOn((await ofPerson.submit(`${path}/join`)).body)).toBe('You joined the seed.')
    expect(await findParticipants(website, seed)).toContain(person.id)
    expect((await ofPerson.get('/notifications')).body).not.toContain(`formaction="${path}/join"`)
  })

  it('makes the person the lead by the same button, if asked to lead', async () => {
    const { path } = await openSeed()
    await ask(path, '山田', 'lead')
    expect((await ofPerson.get('/notifications')).body).toContain('asks you to join and lead مقاعد تتحرك')
    await ofPerson.submit(`${path}/join`)
    expect((await ofPerson.get(path)).body.replaceAll(/\s+/g, ' ')).toMatch(/Led by .*山田 花子/)
  })

  it('says when nobody or several match, and who cannot be asked', async () => {
    const { path } = await openSeed()
    for (const [who, told] of [
      ['Nobody of this name', 'No member of the workspace matches.'],
      ['', 'No member of the workspace matches.'],
      ['example.com', 'Several members match.'],
      [viewer.name, 'who are no viewers'],
    ] as const) {
      expect((await ask(path, who)).body, who).toContain(told)
    }
  })

  it('is for those who may ask, while the seed can be joined', async () => {
    const { path } = await openSeed()
    expect(ofOwner.page()).toContain(`${path}/ask`)
    expect((await ofViewer.get(path)).body).not.toContain(`${path}/ask`)
    await ofOwner.submit(`${path}/status`, { status: 'dropped' })
    expect((await ofOwner.get(path)).body).not.toContain(`${path}/ask`)
  })
})
