import { expect, it } from 'vitest'
import {
  isRestricted,
  isWithin,
  unrestricted,
  type KeyRestrictions,
} from '../../src/domain/key-restrictions.ts'

const [soon, late] = [new Date('2027-01-01T00:00:00Z'), new Date('2028-01-01T00:00:00Z')]
const ending: KeyRestrictions = { ...unrestricted, expiresAt: soon }
const reading: KeyRestrictions = { ...unrestricted, access: 'read' }
const bound: KeyRestrictions = { ...unrestricted, workspaceIds: ['a', 'b'] }

it('a key is restricted by each of the three restrictions', () => {
  expect([unrestricted, ending, reading, bound].map(isRestricted)).toEqual([false, true, true, true])
})

it.each<[name: string, inner: KeyRestrictions, outer: KeyRestrictions, isInside: boolean]>([
  ['an unrestricted key', unrestricted, unrestricted, true],
  [
    'any key in an unrestricted one',
    { expiresAt: soon, access: 'read', workspaceIds: ['a'] },
    unrestricted,
    true,
  ],
  ['an endless key in one that ends', unrestricted, ending, false],
  ['a key that ends later', { ...ending, expiresAt: late }, ending, false],
  ['a key that ends at the same time', ending, ending, true],
  ['a key that ends sooner', ending, { ...ending, expiresAt: late }, true],
  ['a key that writes in one that reads', unrestricted, reading, false],
  ['a key that reads', reading, reading, true],
  ['an unbound key in a bound one', unrestricted, bound, false],
  ['a key for fewer workspaces', { ...bound, workspaceIds: ['b'] }, bound, true],
  ['a key for another workspace too', { ...bound, workspaceIds: ['b', 'c'] }, bound, false],
  ['a key for no workspace', { ...bound, workspaceIds: [] }, bound, true],
])('isWithin: %s', (_name, inner, outer, isInside) => {
  expect(isWithin(inner, outer)).toBe(isInside)
})
