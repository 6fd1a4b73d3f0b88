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
const asMember: KeyRestrictions = { ...unrestricted, maxRole: 'member' }
const asOwner: KeyRestrictions = { ...unrestricted, maxRole: 'owner' }

it('a key is restricted by each of the restrictions, but not by the highest role', () => {
  expect([unrestricted, ending, reading, bound, asMember, asOwner].map(isRestricted)).toEqual([
    ...[false, true, true, true],
    ...[true, false],
  ])
})

it.each<[name: string, inner: KeyRestrictions, outer: KeyRestrictions, isInside: boolean]>([
  ['an unrestricted key', unrestricted, unrestricted, true],
  [
    'any key in an unrestricted one',
    { expiresAt: soon, access: 'read', workspaceIds: ['a'], maxRole: 'viewer' },
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
  ['a key with the role of its owner in a member’s', unrestricted, asMember, false],
  ['a key with a higher role', { ...asMember, maxRole: 'admin' }, asMember, false],
  ['a key with the same role', asMember, asMember, true],
  ['a key with a lower role', { ...asMember, maxRole: 'viewer' }, asMember, true],
  ['a key with the role of its owner in an owner’s', unrestricted, asOwner, true],
])('isWithin: %s', (_name, inner, outer, isInside) => {
  expect(isWithin(inner, outer)).toBe(isInside)
})
