import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { webhookScopeMax, type WebhookScope } from '../../src/domain/webhooks.ts'
import { errors } from '../../src/kernel/errors.ts'
import { createId, filterIdsMax } from '../../src/kernel/ids.ts'
import { createCompany, createTeam, del, get, patch, post, type TestCompany } from '../support/company.ts'
import { anyIssues, expectError } from '../support/expect-error.ts'
import { createLabel, createSeed } from '../support/seeds.ts'
import { startTestApp } from '../support/test-app.ts'
import { createTestClock } from '../support/test-clock.ts'
import { createWebhook, type TestWebhook } from '../support/webhooks.ts'

const clock = createTestClock()
const service = await startTestApp({ clock })
const { as, db } = service
const url = 'https://hooks.example.com/workspace'

async function startCompany() {
  const company = await createCompany(service)
  const { owner } = company
  const [team, otherTeam] = [
    await createTeam(service, owner, company),
    await createTeam(service, owner, company),
  ]
  const [label, otherLabel] = [
    await createLabel(service, owner, company, 'Pricing'),
    await createLabel(service, owner, company, 'Health'),
  ]
  const addWebhook = (scopes: Partial<Record<WebhookScope, string[]>>) =>
    createWebhook(service, owner, company, { url, ...scopes })
  const change = async (path: string, body: object) => {
    const answer = await as(owner, patch(path, body))
    expect(answer.statusCode, answer.body).toBe(200)
  }
  return { company, owner, team, otherTeam, label, otherLabel, addWebhook, change }
}

/** What a webhook has got, and forgets it. */
async function takeTypes({ owner }: TestCompany, { id, path }: TestWebhook): Promise<string[]> {
  const answer = await as(owner, get(`${path}/deliveries`))
  await db.execute(sql`delete from webhook_deliveries where webhook_id = ${id}`)
  return answer
    .json<{ type: string }[]>()
    .map(({ type }) => type)
    .sort()
}

describe('teamIds and labelIds', () => {
  it('limit a webhook to the seeds of some teams and with some labels, as they are with the event', async () => {
    const { company, owner, team, otherTeam, label, otherLabel, addWebhook, change } = await startCompany()
    const ofTeam = await addWebhook({ teamIds: [team.id] })
    const ofLabels = await addWebhook({ labelIds: [label.id, otherLabel.id] })
    const ofBoth = await addWebhook({ teamIds: [team.id, otherTeam.id], labelIds: [label.id] })
    const take = () => Promise.all([ofTeam, ofLabels, ofBoth].map((webhook) => takeTypes(company, webhook)))
    // Events without a seed, and a seed without a team and labels.
    await createTeam(service, owner, company)
    const seed = await createSeed(service, owner, company)
    const path = `/v1/seeds/${seed.id}`
    expect(await take()).toEqual([[], [], []])

    await change(path, { teamId: team.id })
    expect(await take()).toEqual([['seed.updated'], [], []])
    await change(path, { labelIds: [otherLabel.id] })
    expect(await take()).toEqual([['seed.updated'], ['seed.updated'], []])
    await change(path, { labelIds: [label.id], teamId: otherTeam.id })
    expect(await take()).toEqual([[], ['seed.updated'], ['seed.updated']])
    const evidence = { kind: 'interview', verdict: 'supports', summary: 'Seen' }
    expect((await as(owner, post(`${path}/evidence`, evidence))).statusCode).toBe(200)
    expect((await as(owner, post(`${path}/comments`, { body: 'Said' }))).statusCode).toBe(200)
    const ofSeed = ['comment.added', 'evidence.added']
    expect(await take()).toEqual([[], ofSeed, ofSeed])
  })

  it('match with seedIds only seeds that are in each', async () => {
    const { company, owner, team, addWebhook, change } = await startCompany()
    const [one, other] = [
      await createSeed(service, owner, company),
      await createSeed(service, owner, company),
    ]
    const webhook = await addWebhook({ seedIds: [one.id], teamIds: [team.id] })
    await change(`/v1/seeds/${other.id}`, { teamId: team.id })
    await change(`/v1/seeds/${one.id}`, { summary: 'Changed' })
    expect(await takeTypes(company, webhook)).toEqual([])
    await change(`/v1/seeds/${one.id}`, { teamId: team.id })
    expect(await takeTypes(company, webhook)).toEqual(['seed.updated'])
  })

  it('choose the events that are sent again, by the teams and labels that seeds have then', async () => {
    const { company, owner, team, label, addWebhook, change } = await startCompany()
    const sorted = await createSeed(service, owner, company)
    const other = await createSeed(service, owner, company)
    const webhooks = [
      await addWebhook({ teamIds: [team.id] }),
      await addWebhook({ labelIds: [label.id] }),
      await addWebhook({ teamIds: [team.id], labelIds: [label.id] }),
    ]
    await change(`/v1/seeds/${sorted.id}`, { teamId: team.id, labelIds: [label.id] })
    await change(`/v1/seeds/${other.id}`, { teamId: team.id })
    clock.advance(1_000)
    const since = new Date(clock.now().getTime() - 60_000).toISOString()
    const counts = await Promise.all(
      webhooks.map(async ({ path }) =>
        (await as(owner, post(`${path}/redeliver`, { since }))).json<unknown>(),
      ),
    )
    // Each has been created and sorted.
    expect(counts).toEqual([4, 2, 2].map((deliveries) => ({ ok: true, deliveries, keptSince: null })))
    expect((await as(owner, del(team.url))).statusCode).toBe(200)
    const [ofTeam] = webhooks
    expect((await as(owner, post(`${ofTeam?.path}/redeliver`, { since }))).json()).toMatchObject({
      deliveries: 0,
    })
  })

  it('keep what is deleted, which matches nothing, and can be changed with it', async () => {
    const { company, owner, team, otherTeam, label, addWebhook, change } = await startCompany()
    const seed = await createSeed(service, owner, company)
    await change(`/v1/seeds/${seed.id}`, { teamId: team.id, labelIds: [label.id] })
    const ofTeam = await addWebhook({ teamIds: [team.id] })
    const ofLabel = await addWebhook({ labelIds: [label.id] })
    const ofSeed = await addWebhook({ seedIds: [seed.id] })
    for (const path of [team.url, `${company.url}/labels/${label.id}`])
      expect((await as(owner, del(path))).statusCode).toBe(200)
    await change(`/v1/seeds/${seed.id}`, { summary: 'Changed' })
    await takeTypes(company, ofSeed)
    expect((await as(owner, del(`/v1/seeds/${seed.id}`))).statusCode).toBe(200)
    expect(await takeTypes(company, ofSeed)).toEqual(['seed.deleted'])
    for (const webhook of [ofTeam, ofLabel]) expect(await takeTypes(company, webhook)).toEqual([])

    const read = async ({ path }: TestWebhook) => (await as(owner, get(path))).json<object>()
    await change(ofTeam.path, { description: 'Kept', teamIds: [team.id] })
    expect(await read(ofTeam)).toMatchObject({ description: 'Kept', teamIds: [team.id] })
    await change(ofTeam.path, { teamIds: [otherTeam.id, team.id] })
    expect(await read(ofTeam)).toMatchObject({ teamIds: [team.id, otherTeam.id].sort() })
    await change(ofSeed.path, { seedIds: [seed.id], types: ['seed.updated'] })
    expect(await read(ofSeed)).toMatchObject({ seedIds: [seed.id], types: ['seed.updated'] })
    await change(ofTeam.path, { teamIds: [] })
    // What was taken out is unknown.
    expectError(await as(owner, patch(ofTeam.path, { teamIds: [team.id] })), errors.notFound)
  })

  it('name what was changed in the event', async () => {
    const { company, owner, team, label, addWebhook, change } = await startCompany()
    const webhook = await addWebhook({})
    await change(webhook.path, { teamIds: [team.id], labelIds: [label.id] })
    await change(webhook.path, { teamIds: [team.id], labelIds: [label.id] })
    const events = await as(owner, get(`${company.url}/events?type=webhook.updated`))
    expect(events.json()).toMatchObject([{ data: { fields: ['teamIds', 'labelIds'] } }])
  })

  it('must be of the workspace, and at most 50', async () => {
    const { company, owner, addWebhook } = await startCompany()
    const foreign = await startCompany()
    const webhook = await addWebhook({})
    for (const [scope, id] of [
      ['teamIds', foreign.team.id],
      ['labelIds', foreign.label.id],
      ['teamIds', createId()],
      ['labelIds', 'none'],
    ] as const) {
      expectError(await as(owner, post(`${company.url}/webhooks`, { url, [scope]: [id] })), errors.notFound)
      expectError(await as(owner, patch(webhook.path, { [scope]: [id] })), errors.notFound)
      const many = Array.from({ length: webhookScopeMax + 1 }, createId)
      expectError(await as(owner, patch(webhook.path, { [scope]: many })), errors.decodeError, {
        issues: anyIssues,
      })
    }
  })
})

describe('seedIds of a merged seed', () => {
  /** A webhook for one seed, whose list a merge has changed, with what it has got until then. */
  async function startMerge() {
    const { company, owner, addWebhook, change } = await startCompany()
    const [seed, into] = [
      await createSeed(service, owner, company, { title: 'Old' }),
      await createSeed(service, owner, company, { title: 'New' }),
    ]
    const webhook = await addWebhook({ seedIds: [seed.id] })
    const merge = async (from: { id: string }, target: { id: string }) =>
      expect((await as(owner, post(`/v1/seeds/${from.id}/merge`, { into: target.id }))).statusCode).toBe(200)
    const unmerge = async () =>
      expect((await as(owner, post(`/v1/seeds/${seed.id}/unmerge`))).statusCode).toBe(200)
    const take = () => takeTypes(company, webhook)
    const seedIdsOf = async ({ path }: TestWebhook) =>
      (await as(owner, get(path))).json<{ seedIds: string[] }>().seedIds
    return { company, owner, seed, into, webhook, addWebhook, change, merge, unmerge, take, seedIdsOf }
  }

  it('get the seed that it is merged into, through all merges, until that is undone', async () => {
    const { company, owner, seed, into, webhook, addWebhook, change, merge, unmerge, take, seedIdsOf } =
      await startMerge()
    const [ofBoth, ofAll, ofInto] = [
      await addWebhook({ seedIds: [into.id, seed.id] }),
      await addWebhook({}),
      await addWebhook({ seedIds: [into.id] }),
    ]
    const last = await createSeed(service, owner, company, { title: 'Last' })
    await merge(seed, into)
    expect(await take()).toEqual(['seed.merged'])
    await change(`/v1/seeds/${into.id}`, { summary: 'Changed' })
    expect(await take()).toEqual(['seed.updated'])
    expect(await seedIdsOf(webhook)).toEqual([seed.id, into.id].toSorted())
    const told = async () => {
      const events = await as(owner, get(`${company.url}/events?type=webhook.updated`))
      return events.json<{ targetId: string; data: object }[]>().map(({ targetId, data }) => [targetId, data])
    }
    const data = { webhookId: webhook.id, host: 'hooks.example.com', fields: ['seedIds'], status: 'active' }
    expect(await told()).toEqual([[webhook.id, data]])
    for (const [unchanged, ids] of [
      [ofBoth, [into.id, seed.id].toSorted()],
      [ofAll, []],
      [ofInto, [into.id]],
    ] as const)
      expect(await seedIdsOf(unchanged)).toEqual(ids)

    await unmerge()
    expect(await take()).toEqual(['seed.unmerged'])
    expect(await seedIdsOf(webhook)).toEqual([seed.id])
    expect(await seedIdsOf(ofBoth)).toEqual([into.id, seed.id].toSorted())
    expect(await told()).toEqual([
      [webhook.id, data],
      [webhook.id, data],
    ])
    await change(`/v1/seeds/${into.id}`, { summary: 'Changed again' })
    expect(await take()).toEqual([])

    await merge(seed, into)
    await merge(into, last)
    await take()
    await change(`/v1/seeds/${last.id}`, { summary: 'Changed' })
    expect(await take()).toEqual(['seed.updated'])
  })

  it('stay as somebody has set them meanwhile, and never become empty', async () => {
    const { seed, into, webhook, change, merge, unmerge, seedIdsOf } = await startMerge()
    await merge(seed, into)
    await change(webhook.path, { seedIds: [into.id] })
    await unmerge()
    expect(await seedIdsOf(webhook)).toEqual([into.id])
  })

  it('become no more than can be looked up at once', async () => {
    const { seed, into, webhook, merge, seedIdsOf } = await startMerge()
    const ids = [seed.id, ...Array.from({ length: filterIdsMax - 1 }, createId)]
    await db.execute(sql`update webhooks set seed_ids = ${sql.param(ids)}::uuid[] where id = ${webhook.id}`)
    await merge(seed, into)
    expect(await seedIdsOf(webhook)).toEqual(ids)
  })

  it('are not those of a deleted webhook', async () => {
    const { owner, seed, into, webhook, merge } = await startMerge()
    expect((await as(owner, del(webhook.path))).statusCode).toBe(200)
    await merge(seed, into)
    const { rows } = await db.execute(sql`select seed_ids from webhooks where id = ${webhook.id}`)
    expect(rows).toEqual([{ seed_ids: [seed.id] }])
  })
})
