import { describe, expect, it } from 'vitest'
import { readCsv } from '../../src/areas/seeds/tables/read-csv.ts'
import { importRowsMax } from '../../src/domain/seed-imports.ts'
import { defuseCell, restoreCell, toCsvLine } from '../../src/kernel/csv-cells.ts'

const read = (content: string | Buffer) => readCsv(Buffer.from(content))

const refusalOf = async (content: string | Buffer) => {
  const refused = read(content)
  await expect(refused).rejects.toMatchObject({ code: 'table_invalid', field: 'file' })
  return refused.catch((error: unknown) => (error as Error).message)
}

const hostile = [
  ...['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '\n=1', '＝1', '＋1', '－1', '＠A1'],
  ...["'=1", "''=1", "'", "'quoted'", '=cmd|"/C calc"!A0', 'plain', '', '人材', 'مرحبا', '👩‍👩‍👧', ' =1'],
]

describe('cells', () => {
  it('are no formulas, and come back as they were', () => {
    for (const text of hostile) {
      expect(defuseCell(text)).not.toMatch(/^[=+\-@\t\r\n＝＋－＠]/)
      expect(restoreCell(defuseCell(text))).toBe(text)
    }
  })

  it('come back out of a table', async () => {
    const rows = hostile.filter((text) => text !== '').map((text) => [text, 'a "b", c; d\r\ne', ' '])
    const { rows: found } = await read(['a,b,c\r\n', ...rows.map((cells) => toCsvLine(cells))].join(''))
    expect(found.map(({ cells }) => cells.map(restoreCell))).toEqual(rows)
  })

  it('of numbers and of nothing are as they are', () => {
    expect(toCsvLine([-1, null, 'x'])).toBe('-1,,x\r\n')
  })
})

describe('tables', () => {
  it('have commas, semicolons or tabs, and any ends of lines', async () => {
    for (const delimiter of [',', ';', '\t'])
      for (const end of ['\n', '\r\n', '\r']) {
        const lines = [
          ['Title', 'Summary'],
          ['A', 'b'],
          ['C', 'd'],
        ].map((cells) => cells.join(delimiter))
        expect(await read(`\ufeff${lines.join(end)}${end}`)).toEqual({
          headers: ['Title', 'Summary'],
          rows: [
            { number: 2, cells: ['A', 'b'] },
            { number: 3, cells: ['C', 'd'] },
          ],
        })
      }
  })

  it('have one separator, which is not looked for in quotes', async () => {
    expect((await read('"a;b;c;d",b\n1,2')).headers).toEqual(['a;b;c;d', 'b'])
  })

  it('count their rows as spreadsheets do: with empty ones, and cells of several lines', async () => {
    const { rows } = await read('a,b\n\n"1\n2",3\n,\n4,5\n')
    expect(rows.map(({ number }) => number)).toEqual([3, 5])
  })

  it('may have unquoted quotation marks if they are copied from a spreadsheet', async () => {
    expect((await read('a\tb\nThe "best" idea\tx')).rows[0]?.cells).toEqual(['The "best" idea', 'x'])
  })

  it('keep characters that a chunk ends within', async () => {
    const text = '人材👩‍👩‍👧'.repeat(1000)
    const rows = Array.from({ length: 20 }, (_, i) => [`${i}`, text])
    const { rows: found } = await read(['a,b\n', ...rows.map((cells) => toCsvLine(cells))].join(''))
    expect(found.map(({ cells }) => cells)).toEqual(rows)
  })
})

describe('what is refused', () => {
  it('is what is not CSV in UTF-8, with what it is', async () => {
    expect(await refusalOf(Buffer.from('PK\u0003\u0004 xlsx'))).toContain('.xlsx')
    expect(await refusalOf(Buffer.from([0xd0, 0xcf, 0x11, 0xe0]))).toContain('.xls')
    expect(await refusalOf(Buffer.from('%PDF-1.7'))).toContain('PDF')
    expect(await refusalOf(Buffer.from('\ufeffa,b\n1,2', 'utf16le'))).toContain('UTF-16')
    expect(await refusalOf(Buffer.from([0xfe, 0xff, 0, 0x61]))).toContain('UTF-16')
    expect(await refusalOf('a,b\n1,\0')).toContain('not text')
    expect(await refusalOf(Buffer.from('a,b\nCaf\u00e9,2', 'latin1'))).toContain('Windows-1252')
  })

  it('is what is empty', async () => {
    expect(await refusalOf('')).toContain('empty')
    expect(await refusalOf('\n\n , \n')).toContain('empty')
    expect(await refusalOf('a,b\n')).toContain('no rows')
  })

  it('is a quotation mark that is not closed, with its line', async () => {
    expect(await refusalOf('a,b\n1,2\n"3,4\n5,6')).toContain('quotation mark')
    expect(await refusalOf('a,b\n1"2,3')).toMatch(/quotation mark.*at line 2/)
    expect(await refusalOf('a,b\n"1"2,3')).toContain('quotation mark')
  })

  it('is what is larger than a table of seeds', async () => {
    expect(await refusalOf(`a,b\n"${'x'.repeat(150_000)}",2`)).toContain('more than 100,000 bytes')
    expect(await refusalOf(`a,b\n"${'x\n'.repeat(150_000)}",2`)).toContain('more than 100,000 bytes')
    expect(await refusalOf('x'.repeat(5 * 1024 * 1024))).toContain('too long')
    expect(await refusalOf(','.repeat(5 * 1024 * 1024))).toContain('too long')
    expect(await refusalOf(`${','.repeat(300)}x\n1`)).toContain('200 columns')
    expect(await refusalOf(`a\n${',\n'.repeat(60_000)}`)).toContain('empty rows')
    expect(await refusalOf(`a\n${'1\n'.repeat(importRowsMax + 1)}`)).toContain('5,000 rows')
    expect((await read(`a\n${'1\n'.repeat(importRowsMax)}`)).rows).toHaveLength(importRowsMax)
  })
})
