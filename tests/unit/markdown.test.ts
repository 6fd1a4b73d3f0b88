import { describe, expect, it } from 'vitest'
import { excerptOf, renderMarkdown } from '../../src/website/components/markdown.ts'
import { expectLinear } from '../support/expect-linear.ts'

const ada = '01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08'

const render = (text: string) =>
  /^<div class="markdown" dir="auto">([\s\S]*)<\/div>$/.exec(renderMarkdown(text, '/w/acme').toString())?.[1]

describe('renderMarkdown', () => {
  it('renders lists, quotes, emphasis, code and line breaks', () => {
    expect(render('one\ntwo')).toBe('<p>one<br>\ntwo</p>\n')
    expect(render('*a* **b** ~~c~~ `d`')).toBe(
      '<p><em>a</em> <strong>b</strong> <s>c</s> <code>d</code></p>\n',
    )
    expect(render('- a\n- b')).toBe('<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n')
    expect(render('> a')).toBe('<blockquote>\n<p>a</p>\n</blockquote>\n')
    expect(render('```\n<b>\n```')).toBe(
      '<pre role="group" aria-label="Code" tabindex="0"><code>&lt;b&gt;\n</code></pre>\n',
    )
    expect(render('a\n***\nb\n---')).toBe('<p>a</p>\n<hr>\n<p>b</p>\n<hr>\n')
  })

  it('renders tables, aligned without styles in attributes, in a box that scrolls', () => {
    expect(render(`a | b | c | d\n-|:-|:-:|-:\n1 | **2** | \`x\\|y\` | [@A\\|b](user:${ada})`)).toBe(
      '<div class="table" role="group" aria-label="Table" tabindex="0"><table>\n<thead>\n<tr>\n' +
        '<th>a</th>\n<th class="align-left">b</th>\n<th class="align-center">c</th>\n<th class="align-right">d</th>\n' +
        '</tr>\n</thead>\n<tbody>\n<tr>\n' +
        '<td>1</td>\n<td class="align-left"><strong>2</strong></td>\n<td class="align-center"><code>x|y</code></td>\n' +
        `<td class="align-right"><a href="/w/acme/people/${ada}" class="mention">@A|b</a></td>\n` +
        '</tr>\n</tbody>\n</table></div>\n',
    )
    expect(render('a | b\nc | d')).toBe('<p>a | b<br>\nc | d</p>\n')
  })

  it.each([
    ['quotes', '> '.repeat(25) + 'deep', '<blockquote>', '&gt; &gt; &gt; &gt; &gt; deep'],
    ['lists', '1) '.repeat(25) + 'deep', '<ol>', '1) 1) 1) 1) 1) deep'],
    ['both', '> - '.repeat(12) + 'deep', '<blockquote>', '&gt; - &gt; - deep'],
  ])('shows what is nested deeper than 20 levels as text: %s', (_what, text, tag, rest) => {
    const shown = render(text) ?? ''
    expect(shown).toContain(`${rest}<`)
    expect(shown.split(tag).length - 1).toBe(tag === '<blockquote>' && text.includes('-') ? 10 : 20)
  })

  it('renders 2,000 cells of tables, and what exceeds them as text', () => {
    const wide = `${'|a'.repeat(1000)}\n${'|-'.repeat(1000)}\n${'b\n'.repeat(500)}`
    const many = `${'|a'.repeat(30)}\n${'|-'.repeat(30)}\n${'b\n'.repeat(66)}\n`.repeat(18)
    for (const text of [wide, many]) {
      const shown = render(text) ?? ''
      expect(shown.match(/<t[hd]>/g)?.length).toBeGreaterThan(1900)
      expect(shown.match(/<t[hd]>/g)?.length).toBeLessThanOrEqual(2000)
      expect(shown.match(/[ab]/g)?.length).toBeGreaterThanOrEqual(text.match(/[ab]/g)?.length ?? 0)
      expect(shown.length).toBeLessThan(40_000)
    }
    expect(render('|a'.repeat(2001) + '\n' + '|-'.repeat(2001))).not.toContain('<table>')
  })

  it('links URLs, which tell no other site where they were', () => {
    const link = (url: string, text = url) =>
      `<p><a href="${url}" rel="noopener noreferrer nofollow ugc">${text}</a></p>\n`
    expect(render('https://example.com/a?b=c')).toBe(link('https://example.com/a?b=c'))
    expect(render('[text](https://example.com)')).toBe(link('https://example.com', 'text'))
    expect(render('readme.md and 1.0.0')).toBe('<p>readme.md and 1.0.0</p>\n')
  })

  it('links mentions to the page of the person', () => {
    expect(render(`[@Ada \\[A\\] &lt;*b*](user:${ada})`)).toBe(
      `<p><a href="/w/acme/people/${ada}" class="mention">@Ada [A] &lt;*b*</a></p>\n`,
    )
  })

  it.each([
    `[@Ada](user:../../settings)`,
    `[@Ada](user:${ada}/../../settings)`,
    `[@Ada](user:${ada}?x=1)`,
    `[Ada](user:${ada})`,
    `<user:${ada}>`,
    '[@Ada](user:0190)',
    `\\[@Ada](user:${ada})`,
    `\`[@Ada](user:${ada})\``,
    `    [@Ada](user:${ada})`,
  ])('links nobody in %s', (text) => {
    expect(render(text)).not.toContain('<a ')
  })

  it.each([
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '[a](javascript:alert(1))',
    '[a](data:text/html,x)',
    '![a](https://example.com/a.png)',
    '[a](https://example.com "x" onclick="alert(1)")',
    '[a](user:"><script>)',
    '<https://example.com/"onmouseover="alert(1)>',
    '[x]: javascript:alert(1)\n[x]',
  ])('makes nothing but text and links of %s', (text) => {
    const tags = [...(render(text) ?? '').matchAll(/<[^>]*>/g)].map(([tag]) => tag)
    for (const tag of tags)
      expect(tag).toMatch(/^<(?:\/?p|br|\/a|a href="(?:https?:|\/w\/acme\/people\/)[^"<>]*"[^<>]*)>$/)
    expect(tags.join('')).not.toMatch(/ on[a-z]+=|javascript:|data:/)
  })

  it.each(['[', '*a', '> ', '`', '![](', '&', '<', '[a](', '_a_', '- ', '|', '|-\n', 'a|b\n-|-\n', '> - '])(
    'takes time in proportion to the length of %j, repeated',
    (part) => expectLinear((length) => render(part.repeat(length / part.length)), 1_250),
  )
})

describe('excerptOf', () => {
  it('returns the words of a text without Markdown, in one line', () => {
    const text =
      'See [here](https://example.com) *this*\n\n- one\n- **two** `x`\n\n> said\n\n```\na  b\n```\n1 < 2'
    expect(excerptOf(text)).toBe('See here this one two x said a b 1 < 2')
    expect(excerptOf('Prices\n\n| Plan | Price |\n|-|-:|\n| A | **9** |\n\n---\nend')).toBe(
      'Prices Plan Price A 9 end',
    )
  })

  it('cuts long texts, and no character in halves', () => {
    expect(excerptOf(`a${'👩'.repeat(300)}`)).toBe(`a${'👩'.repeat(199)}…`)
  })
})
