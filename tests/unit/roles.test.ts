import { describe, expect, it } from 'vitest'
import { isAbove, mayActOn, mayGrant, roles, type Role } from '../../src/domain/roles.ts'

/** Every pair for which a rule holds, the first role before the second. */
const pairs = (rule: (one: Role, other: Role) => boolean) =>
  roles.flatMap((one) => roles.filter((other) => rule(one, other)).map((other) => `${one} ${other}`))

describe('roles', () => {
  it('have one order, from owner to viewer', () => {
    expect(pairs(isAbove)).toEqual([
      'owner admin',
      'owner member',
      'owner viewer',
      'admin member',
      'admin viewer',
      'member viewer',
    ])
  })

  it('may act on lower roles, and owners also on owners', () => {
    expect(pairs(mayActOn)).toEqual([
      'owner owner',
      'owner admin',
      'owner member',
      'owner viewer',
      'admin member',
      'admin viewer',
      'member viewer',
    ])
  })

  it('may grant their own role and lower ones', () => {
    expect(pairs(mayGrant)).toEqual([
      'owner owner',
      'owner admin',
      'owner member',
      'owner viewer',
      'admin admin',
      'admin member',
      'admin viewer',
      'member member',
      'member viewer',
      'viewer viewer',
    ])
  })
})
