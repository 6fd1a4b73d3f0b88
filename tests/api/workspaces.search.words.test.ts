import { describe, expect, it } from 'vitest'
import { createCompany, get } from '../support/company.ts'
import { addEvidence, createSeed } from '../support/seeds.ts'
import { startTestApp } from '../support/test-app.ts'

const service = await startTestApp()

interface Found {
  kind: string
  title: string
  excerpt: string | null
}

/** Texts, what is looked for in them, and whether it is found. */
const rows: [text: string, q: string, isFound: boolean][] = [
  ['今月の売上レポート', '売上', true],
  ['日本語のテスト文書', 'テスト', true],
  ['請求書を音声で入力する', '音声', true],
  ['請求書を音声で入力する', '声音', false],
  ['請求書を音声で入力する', '声', true],
  ['請求書を音声で入力する', 'る', true],
  ['这是一个测试页面', '测试', true],
  ['这是一个测试页面', '测试页面', true],
  ['这是一个测试页面', '测页', false],
  ['人々の声', '々の', true],
  ['สวัสดีชาวโลก', 'ชาวโลก', true],
  ['東京Tower見学', 'tower', true],
  ['東京Tower見学', '京tower', true],
  ['東京Tower見学', '東京tower見', true],
  ['東京Tower見学', '東tower', false],
  ['신규API를 쓴다', 'api', true],
  ['Node.js v1.2.3 release', '1.2.3', true],
  ['Node.js v1.2.3 release', 'v1.2', true],
  ['Node.js v1.2.3 release', '2.1', false],
  ['iPhone15 cases', 'iphone 15', true],
  // The last part of what is asked for also begins a word that is stored whole.
  ['2651da9d-aeb2', '2651da9d-aeb2', true],
  ['abc-1 beside 1cafe', 'abc-1', true],
  ['abc-1 beside 1cafe', 'iphone-1', false],
  ['Онлайн2024', '2024', true],
  ['ｶﾀｶﾅ half', 'カタカナ', true],
  ['ﬁnance', 'finance', true],
  ['“quoted phrase here”', '"phrase quoted"', false],
  ['“quoted phrase here”', '"quoted phrase"', true],
  ['“quoted phrase here”', '“phrase here”', true],
  ['“quoted phrase here”', '"quoted here"', false],
  ['“quoted phrase here”', '"quoted phr"', false],
  ['“quoted phrase here”', '"quoted phr', true],
  ['“quoted phrase here”', 'here "quoted phrase"', true],
  ['order#4711', '#4711', true],
  ['Straße nach Gießen', 'STRASSE', true],
  ['İstanbul ofisi', 'istanbul', true],
  ['ΟΔΟΣ', 'οδος', true],
  ['مُحَمَّد أحمد', 'محمد احمد', true],
  ['٢٠٢٤', '2024', true],
  ['C++ migration guide', 'C++', true],
  ['Launch🚀 on Friday', '🚀', true],
  ['Launch🚀 on Friday', 'launch', true],
  ['100€ a month', '100', true],
  ['팀장은 매주 보고서를', '보고', true],
  ['เด็ก'.repeat(20), 'เด็ก', true],
]

describe('the words of texts', async () => {
  const company = await createCompany(service)
  const { owner, url } = company
  const texts = [...new Set(rows.map(([text]) => text))]
  const seed = await createSeed(service, owner, company, { title: 'All of it' })
  for (const text of texts) {
    await createSeed(service, owner, company, { title: text })
    await addEvidence(service, owner, seed, { summary: text })
  }

  it.each(rows)('of %s: %s', async (text, q, isFound) => {
    const answer = await service.as(owner, get(`${url}/search?q=${encodeURIComponent(q)}&limit=200`))
    expect(answer.statusCode, answer.body).toBe(200)
    const found = answer.json<Found[]>()
    const has = (kind: string, field: 'title' | 'excerpt') =>
      found.some((result) => result.kind === kind && result[field] === text)
    expect([has('seed', 'title'), has('evidence', 'excerpt')]).toEqual([isFound, isFound])
    const listed = await service.as(owner, get(`${url}/seeds?q=${encodeURIComponent(q)}`))
    expect(listed.json<Found[]>().some(({ title }) => title === text)).toBe(isFound)
  })
})
