import { expect, it } from 'vitest'
import { readAddresses } from '../../src/website/people/invite-each.ts'
import { expectLinear } from '../support/expect-linear.ts'

it.each([
  ['one', 'a@x.example', ['a@x.example']],
  ['none', ' ,;\n ', []],
  [
    'commas, semicolons, spaces and lines',
    'a@x,b@x; c@x d@x\ne@x\t f@x',
    ['a@x', 'b@x', 'c@x', 'd@x', 'e@x', 'f@x'],
  ],
  ['each once, in the first spelling', 'Ada@x, ada@X b@x', ['Ada@x', 'b@x']],
  ['names before addresses', 'Ada Lovelace <ada@x>, "Hopper" <grace@x>', ['ada@x', 'grace@x']],
  [
    'quoted names with separators',
    '"Roe, Jane" <jane@x>; "Doe; \\"Jim\\"" <jim@x>,"A" <a@x>\n"b@x" "',
    ['jane@x', 'jim@x', 'a@x', '"b@x"', '"'],
  ],
  ['invisible characters at the ends', '\u200Bada@x\uFEFF, ada@x \u200B', ['ada@x']],
  ['an unfinished name', 'Ada <ada@x', ['Ada', '<ada@x']],
  ['an empty address', '<>', []],
])('reads %s', (_name, text, addresses) => {
  expect(readAddresses(text)).toEqual(addresses)
})

it.each(['<', '>', ' ', 'x ', '"\\'])('reads %j many times in time in proportion to the length', (part) =>
  expectLinear((length) => readAddresses(part.repeat(length / part.length)), 15_000),
)
