import pg from 'pg'
import { expect, it } from 'vitest'
import { afterFile } from '../support/after-file.ts'
import { clone } from '../support/test-app.ts'

const pool = new pg.Pool({ connectionString: await clone(), max: 1 })
afterFile(() => pool.end())

const english =
  'Somebody who leads a team of nine said that they write the same report each week, and that nobody reads it. They ' +
  'would rather have the numbers on one page, with what has changed since the last time, and a place for questions. ' +
  'Two of the others had tried a shared document before: it was out of date within a month.'
const ids =
  'Somebody said term7 and rare27, 0cc175b9c0f1b6a831c399e269772661 92eb5ffee6ae2fec3ad71c777531578f ' +
  '4a8a08f09d37b73795649038408b5f33 8277e0910d750195b448797616e091ad e1671797c52e15f763380b45e841ec32'
const cyrillic =
  'Руководитель команды из девяти человек говорит, что они пишут один и тот же отчёт каждую неделю, и его никто не ' +
  'читает. Им нужны цифры на одной странице и место для вопросов.'
const japanese =
  '請求書を音声で入力するための新しい方法を試してみたい。利用者は毎日の作業でこれを使う、と言った。'.repeat(5)

/** The shortest of several times in milliseconds that texts take, alternating, since a machine has other work too. */
async function measure(
  statements: Record<string, [sql: string, text: string]>,
  { texts = 500, rounds = 8 } = {},
): Promise<Record<string, number>> {
  const times: Record<string, number> = {}
  for (let round = 0; round < rounds; round++)
    for (const [name, [sql, text]] of Object.entries(statements)) {
      const { rows } = await pool.query<{ 'QUERY PLAN': { 'Execution Time': number }[] }>(
        `explain (analyze, timing off, format json) select ${sql} from (select $1 || ' ' || i as text from generate_series(1, $2::int) as i offset 0) as texts`,
        [text, texts],
      )
      const took = rows[0]?.['QUERY PLAN'][0]?.['Execution Time'] ?? Infinity
      times[name] = Math.min(took, times[name] ?? Infinity)
    }
  return times
}

// What the words of a text take must not be felt where it is written. The bounds are twice of what was measured.
it('the words of a text take a few times as long as what PostgreSQL takes for those of English', async () => {
  const keys = `search_keys('00000000-0000-7000-9000-000000000001', 'evidence', '', text)`
  const { parser = 0, ...times } = await measure({
    parser: [`to_tsvector('pg_catalog.simple', text)`, english],
    english: [keys, english],
    ids: [keys, ids],
    cyrillic: [keys, cyrillic],
    japanese: [keys, japanese],
  })
  const ratios = Object.fromEntries(Object.entries(times).map(([name, ms]) => [name, ms / parser]))
  expect(ratios.english).toBeLessThan(6)
  expect(ratios.ids).toBeLessThan(6)
  expect(ratios.cyrillic).toBeLessThan(6)
  expect(ratios.japanese).toBeLessThan(40)
})

/** Texts that take a long way, each of the same length: what a stranger can send. */
const worst = Object.entries({
  signs: '€',
  emoji: '😀',
  'a face of several': '👩🏽‍💻',
  'all of one script': '請求書を音声で入力する',
  'two scripts, alternating': 'a東',
  'two scripts with spaces, alternating': 'aж',
  'a letter and a digit, alternating': 'a1',
  'short words of letters and digits': '1e5 ',
  'one letter': 'ж ',
  'marks in a wrong order': '\u0301\u0316',
  'marks of Thai in a wrong order': '\u0e48\u0e38',
  'a character that becomes eighteen': '\ufdfa',
  'a character that becomes several': '\u3300',
  quotes: `"'`,
  backslashes: '\\',
  blanks: ' ',
  'a sign and blanks': ',  ',
  articles: 'وال',
  'articles and words': 'والكتاب ',
  Hangul: '\u1100\u1161\u11a8',
})

// Eight times the length may take 16 times as long, and 40 times as long as English: three times of what was measured.
it.each(worst)('a text of %s takes as long as its length', async (_name, piece) => {
  const keys = `search_keys('00000000-0000-7000-9000-000000000001', 'seed', left(text, 100), text)`
  const textOf = (length: number) => Array.from(piece.repeat(length)).slice(0, length).join('')
  const {
    short = 0,
    long = 0,
    ordinary = 0,
  } = await measure(
    {
      ordinary: [keys, english.repeat(30).slice(0, 8_000)],
      short: [keys, textOf(1_000)],
      long: [keys, textOf(8_000)],
    },
    { texts: 20, rounds: 6 },
  )
  expect(long / short).toBeLessThan(16)
  expect(long / ordinary).toBeLessThan(40)
})
