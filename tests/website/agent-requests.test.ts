import { expect, it } from 'vitest'
import { letAgentIn } from '../support/agent-caller.ts'
import { createCompany, get } from '../support/company.ts'
import { eventually } from '../support/eventually.ts'
import { createSeed } from '../support/seeds.ts'
import { noticeOn, signInAs, startWebsite } from './visitor.ts'

const website = await startWebsite()
const { as } = website
const textOf = (page: string) => page.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')

/** A member with an agent and a seed, signed in. */
async function startAsking() {
  const company = await createCompany(website)
  const { workspace, member, url } = company
  const agent = await letAgentIn(website, workspace, member, {
    scopes: ['validation-kit:read', 'workspace:read', 'seeds:write'],
  })
  const seed = await createSeed(website, member, company)
  const visitor = await signInAs(website, member)
  const base = `/w/${workspace.slug}`
  const page = `${base}/seeds/${seed.id}`
  const mention = `[@Claude](agent:${agent.grantId})`
  const comment = async (body: string) => {
    await visitor.get(page)
    return visitor.submit(`${page}/comments`, { body })
  }
  const requestIds = async () =>
    (await as(member, get(`${url}/agent-requests`))).json<{ id: string }[]>().map(({ id }) => id)
  return { company, agent, seed, visitor, base, page, mention, comment, requestIds }
}

it('shows what was asked of an agent, by whom, and what came of it, on its page and on that of all', async () => {
  const { agent, visitor, base, page, mention, comment, requestIds } = await startAsking()
  expect((await visitor.get(`${base}/agents`)).body).not.toContain('id="requests"')
  expect(noticeOn((await comment(`${mention} find evidence`)).body)).toBe('Comment added.')
  expect(textOf((await visitor.get(`${base}/agents/${agent.grantId}`)).body)).toContain('Waiting for Robbie')
  const [requestId] = await requestIds()
  await agent.use('decline_request', { requestId, reason: 'No source says so.' })
  for (const path of [`${base}/agents`, `${base}/agents/${agent.grantId}`]) {
    const text = textOf((await visitor.get(path)).body)
    expect(text).toContain('@Robbie find evidence')
    expect(text).toContain('Robbie declined: No source says so.')
  }
  // It has not read seeds, but was used, which is written a moment later.
  await eventually(async () =>
    expect(textOf((await visitor.get(page)).body)).not.toContain('has not been used'),
  )
})

it('has one line in the activity for what was asked, and one for its answer', async () => {
  const { agent, seed, visitor, base, mention, comment, requestIds } = await startAsking()
  await comment(`${mention} find evidence`)
  const [requestId] = await requestIds()
  await agent.use('add_comment', { seedId: seed.id, body: 'Ten said no.', requestId })
  await comment('Thank you.')
  for (const path of [`${base}/activity`, base]) {
    const text = textOf((await visitor.get(path)).body)
    expect(text).toContain('asked Robbie')
    expect(text).toContain('answered a request')
    expect(text.match(/commented on/g)).toHaveLength(1)
  }
  const all = textOf((await visitor.get(`${base}/activity?type=comment.added`)).body)
  expect(all.match(/commented on/g)).toHaveLength(3)
})

it('says that an edit asks no agent, before and after, and that an agent cannot be asked now', async () => {
  const { company, visitor, base, seed, mention, comment, requestIds } = await startAsking()
  const plain = await comment('Nothing.')
  const id = /id="comment-([\w-]{36})"/.exec(plain.body)?.[1] ?? ''
  const edit = `${base}/comments/${id}/edit`
  const form = (await visitor.get(edit)).body
  expect(form).toContain('An edit asks no agent: write a new comment.')
  expect(form).toContain('data-mentions="' + base + '/people/names?agents=none"')
  const names = async (query: string) => (await visitor.get(`${base}/people/names?q=Robbie${query}`)).body
  expect(await names('')).toContain('grantId')
  expect(await names('&agents=none')).not.toContain('grantId')
  const saved = await visitor.submit(edit, { body: `${mention} please` })
  expect(noticeOn(saved.body)).toBe('Saved. An edit asks no agent: write a new comment.')
  const admin = await signInAs(website, company.admin)
  await admin.get(`${base}/seeds/${seed.id}`)
  const added = await admin.submit(`${base}/seeds/${seed.id}/comments`, { body: `${mention} find evidence` })
  expect(noticeOn(added.body)).toContain('An agent that it names cannot be asked now, and was not.')
  expect(await requestIds()).toEqual([])
})
