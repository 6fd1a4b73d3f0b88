import { describe, expect, it } from 'vitest'
import { likenessMin, likenessTo } from '../../src/domain/likeness.ts'

describe('likenessTo', () => {
  it.each([
    ['Self-service onboarding', 'self service ONBOARDING'],
    ['Café near the office', 'Cafe near the office'],
    ['تسجيل العملاء', 'تَسجيل العُملاء'],
  ])('is 1 for %s and %s, which differ in case, signs or marks', (one, other) => {
    expect(likenessTo(one)(other)).toBe(1)
  })

  it.each([
    ['Lending libary of tools', 'Lending library for tools'],
    ['Onboarding', 'Self-service onboarding for new teams'],
    ['onb', 'Self-service onboarding for new teams'],
    ['オンボーディングの自動化', '新規顧客のオンボーディングを自動化する'],
    ['مكتبة', 'نظام المكتبة'],
    ['AI', 'AI for nurses'],
  ])('finds %s like %s', (one, other) => {
    expect(likenessTo(one)(other)).toBeGreaterThanOrEqual(likenessMin)
    expect(likenessTo(other)(one)).toBe(likenessTo(one)(other))
  })

  it.each([
    ['Cheaper coffee for people', 'Parking for trucks in town'],
    ['Fewer meetings', 'Weekly reports'],
    ['顧客サポートの夜間対応', '新規顧客のオンボーディングを自動化する'],
    ['', ''],
    ['!?', '!?'],
  ])('does not find %s like %s', (one, other) => {
    expect(likenessTo(one)(other)).toBeLessThan(likenessMin)
  })

  it('is higher the more of the titles is the same', () => {
    const title = 'Cheaper coffee for nurses'
    const likenesses = [
      'Cheaper coffee for nurses',
      'Cheaper coffee for drivers',
      'Cheaper parking for drivers',
    ]
    const found = likenesses.map((other) => likenessTo(title)(other))
    expect(found).toEqual(found.toSorted((one, other) => other - one))
    expect(found[0]).toBe(1)
  })
})
