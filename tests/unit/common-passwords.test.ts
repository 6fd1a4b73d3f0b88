import { expect, it } from 'vitest'
import { isCommonPassword } from '../../src/platform/passwords/common-passwords.ts'
import { expectLinear } from '../support/expect-linear.ts'

it.each([
  'password123',
  'qwertyuiop',
  '1234567890',
  'QWERTYUIOP',
  'Password123!',
  'p@ssw0rd2024',
  'letmein2024',
  '!!sunshine!!',
  'passwordpassword',
  'monkeymonkeymonkey1',
  'dragon '.repeat(20),
  '1q2w3e4r5t',
  'workspace1',
  'Workspace2026!',
  'w0rkspace!!',
  'myworkspace',
  'WorkspaceAdmin1',
  'validationkit',
  'seedevidence',
  'our workspace 1',
])('rejects the common password %s', async (password) => {
  expect(await isCommonPassword(password)).toBe(true)
})

it.each([
  'correct horse battery staple',
  'a long password',
  'Engines-1843!x',
  'пароль другой человек',
  '漢字'.repeat(3) + 'かな',
  '9f3c-77aa-0b1e-42d8',
  'workspaces of the deep sea',
  '8361-9402-love-7731-5520',
  '',
])('accepts the password %s', async (password) => {
  expect(await isCommonPassword(password)).toBe(false)
})

it.each([
  ['ab', 'xy'],
  ['@', 'a'],
  ['𝔞', ''],
  ['seeds', 'x'],
])('takes time in proportion to the length of %j, repeated, and %j', (part, end) =>
  expectLinear((length) => isCommonPassword(part.repeat(length / part.length) + end), 2_000),
)
