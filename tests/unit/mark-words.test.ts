import { describe, expect, it } from 'vitest'
import { html } from '../../src/website/components/html.ts'
import { markWords } from '../../src/website/search/mark-words.ts'

const marked = (text: string, q: string) => html`${markWords(text, q)}`.toString()

describe('the words of a search in a text', () => {
  it.each([
    ['the begin of a word, in any case', 'Invoices and an invoice', 'INVOICE', '[Invoice]s and an [invoice]'],
    ['no middle of a word', 'Preinvoice', 'invoice', 'Preinvoice'],
    ['accents of the text', 'Ínvoice, caf\u0065\u0301s', 'invoice cafe', '[Ínvoice], [caf\u0065\u0301]s'],
    ['accents of the search', 'cafe', 'café', '[cafe]'],
    ['several words, the longest first', 'a seed, seeds', 'se seeds', 'a [se]ed, [seeds]'],
    ['Japanese, anywhere', '新規顧客の請求書', '請求', '新規顧客の[請求]書'],
    ['Arabic', 'تسجيل العملاء الجدد', 'العملاء', 'تسجيل [العملاء] الجدد'],
    ['Cyrillic', 'Руководитель команды', 'КОМАНД', 'Руководитель [команд]ы'],
    ['half of a Hangul word', '한국어 회의', '한국', '[한국]어 회의'],
    ['emoji beside it', '😀 fun 😀', 'fun', '😀 [fun] 😀'],
    ['signs that mean something in a pattern', 'What (a) C++ .*', '(a) c++ .*', 'What ([a]) [C]++ .*'],
    ['nothing for a search of signs', 'C++', '++', 'C++'],
  ])('marks %s', (_, text, q, expected) => {
    expect(marked(text, q)).toBe(expected.replaceAll('[', '<mark>').replaceAll(']', '</mark>'))
  })

  it('are escaped', () => {
    expect(marked('<b>bold</b>', 'b')).toBe('&lt;<mark>b</mark>&gt;<mark>b</mark>old&lt;/<mark>b</mark>&gt;')
  })
})
