import { describe, expect, it } from 'vitest'
import { similarSeedsMax } from '../../src/domain/seeds.ts'
import { createCompany, del, get, post } from '../support/company.ts'
import { createSeed, type TestSeed } from '../support/seeds.ts'
import { startTestApp } from '../support/test-app.ts'

const service = await startTestApp()
const { as } = service
const company = await createCompany(service)

interface Similar {
  id: string
  title: string
  status: string
  url: string
}

const similarTo = async (title: string, of = company) => {
  const answer = await as(of.viewer, get(`${of.url}/seeds/similar?title=${encodeURIComponent(title)}`))
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json<Similar[]>()
}

describe('200', () => {
  it('finds titles with the same words, or almost, in every script, and short ones', async () => {
    const of = await createCompany(service)
    const titles = [
      'Self-service onboarding for new teams',
      'Lending library for tools',
      '新規顧客のオンボーディングを自動化する',
      '顧客サポートの夜間対応',
      'تسجيل العملاء الجدد بدون مكالمة',
      'نظام المكتبة',
      'AI',
      '茶',
    ]
    for (const title of titles) await createSeed(service, of.member, of, { title })
    const found = async (title: string) => (await similarTo(title, of)).map((seed) => seed.title)
    for (const title of titles) expect((await found(title))[0], title).toBe(title)
    expect(await found('Selfservice onbording')).toEqual(['Self-service onboarding for new teams'])
    expect(await found('self-service onbo')).toEqual(['Self-service onboarding for new teams'])
    expect(await found('A libary of tools')).toEqual(['Lending library for tools'])
    expect(await found('オンボーディングの自動化')).toEqual(['新規顧客のオンボーディングを自動化する'])
    expect(await found('العملاء الجدد')).toEqual(['تسجيل العملاء الجدد بدون مكالمة'])
    expect(await found('مكتبة')).toEqual(['نظام المكتبة'])
    for (const title of ['Parking', '', ' ', '!?', "'", '<script>&:*|', '通知'])
      expect(await found(title), title).toEqual([])
  })

  it('returns a handful of fields, the most similar first, at most five', async () => {
    const of = await createCompany(service)
    const seeds: TestSeed[] = []
    for (let i = 0; i < similarSeedsMax + 2; i++)
      seeds.push(
        await createSeed(service, of.member, of, { title: `Cheaper coffee ${'and tea '.repeat(i)}` }),
      )
    const found = await similarTo('Cheaper coffee', of)
    expect(found).toEqual(
      seeds.slice(0, similarSeedsMax).map(({ id, title, status, url }) => ({ id, title, status, url })),
    )
  })

  it('finds an exact title among many of the same words', async () => {
    const of = await createCompany(service)
    for (let i = 0; i < 80; i++)
      await createSeed(service, of.member, of, { title: `Weekly reports for team ${i} in Oslo` })
    await createSeed(service, of.member, of, { title: 'Weekly reports in Oslo' })
    for (let i = 0; i < 80; i++)
      await createSeed(service, of.member, of, { title: `Oslo has reports ${i} each week` })
    expect((await similarTo('Weekly reports in Oslo', of))[0]?.title).toBe('Weekly reports in Oslo')
  })

  it('leaves out deleted and merged seeds, and those of other workspaces', async () => {
    const of = await createCompany(service)
    const [kept, deleted, merged] = [
      await createSeed(service, of.member, of, { title: 'Shared bicycles' }),
      await createSeed(service, of.member, of, { title: 'Shared bicycles' }),
      await createSeed(service, of.member, of, { title: 'Shared bicycles' }),
    ]
    await createSeed(service, company.member, company, { title: 'Shared bicycles' })
    await as(of.owner, del(`/v1/seeds/${deleted.id}`))
    await as(of.owner, post(`/v1/seeds/${merged.id}/merge`, { into: kept.id }))
    expect((await similarTo('Shared bicycles', of)).map(({ id }) => id)).toEqual([kept.id])
  })
})

it('seeds.create names similar seeds, and not the new one', async () => {
  const of = await createCompany(service)
  const create = async (title: string) => {
    const answer = await as(of.member, post(`${of.url}/seeds`, { title, summary: 'x' }))
    expect(answer.statusCode, answer.body).toBe(200)
    return answer.json<{ seed: TestSeed; similar: Similar[] }>()
  }
  const first = await create('Fewer meetings on Fridays')
  expect(first.similar).toEqual([])
  const second = await create('Fewer meetings')
  const { id, title, status, url } = first.seed
  expect(second.similar).toEqual([{ id, title, status, url }])
})
