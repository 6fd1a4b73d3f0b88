import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = new URL('../../', import.meta.url).pathname
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const list = (...patterns: string[]) =>
  execFileSync('git', ['ls-files', '-co', '--exclude-standard', '--', ...patterns], {
    cwd: root,
    encoding: 'utf8',
  })
    .split('\n')
    .filter((file) => file !== '' && existsSync(join(root, file)))

const chapters = readdirSync(join(root, 'docs/design'))
  .filter((file) => file.endsWith('.md'))
  .map((file) => `docs/design/${file}`)
const documents = list('*.md')
const sources = list(
  'src',
  'tests',
  'bench',
  'scripts',
  'drizzle',
  'deploy',
  'packages',
  'public',
  '.ci',
  '*.cjs',
  '*.js',
  'package.json',
  '.env.example',
)

/** The anchors that GitHub gives the headings of a document. */
function anchorsOf(file: string): string[] {
  const text = read(file).replaceAll(/^```[^]*?^```/gm, '')
  return Array.from(text.matchAll(/^#+ (.+)$/gm), ([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replaceAll(/[^\p{L}\p{N}\- _]/gu, '')
      .replaceAll(' ', '-'),
  )
}

function isThere(file: string, anchor: string | undefined): boolean {
  if (!existsSync(join(root, file))) return false
  return anchor === undefined || !file.endsWith('.md') || anchorsOf(file).includes(anchor)
}

describe('links', () => {
  it.each(documents)('of %s lead to files and headings that exist', (file) => {
    const links = read(file)
      .replaceAll(/^```[^]*?^```/gm, '')
      .matchAll(/\]\((?![a-z]+:)([^)#\s]*)(?:#([^)\s]*))?\)/g)
    const dead = Array.from(links, ([, path = '', anchor]) => ({
      target: path === '' ? file : join(dirname(file), path),
      anchor,
    })).filter(({ target, anchor }) => !isThere(target, anchor))
    expect(dead).toEqual([])
  })

  it('of comments lead to chapters and headings that exist', () => {
    const dead = sources.flatMap((file) =>
      Array.from(
        read(file).matchAll(/docs\/design\/([a-z-]+\.md)(?:#([a-z0-9-]+))?/g),
        ([link, path, anchor]) => ({
          link,
          isDead: !isThere(`docs/design/${path}`, anchor),
          file,
        }),
      ).filter(({ isDead }) => isDead),
    )
    expect(dead).toEqual([])
  })
})

describe('the map of the code in CONTRIBUTING.md', () => {
  /** The files and folders of src/ in the map, whose lines are indented by two spaces for each level. */
  function readMap(): string[] {
    const [, map = ''] = /```text\n(src\/\n[^]*?)```/.exec(read('CONTRIBUTING.md')) ?? []
    const [block = ''] = map.split(/^(?=scripts\/)/m)
    const parents: string[] = []
    return Array.from(
      block.matchAll(/^((?: {2}){0,3})([\w.-]+\/?)(?= |$)/gm),
      ([, indent = '', name = '']) => {
        const depth = indent.length / 2
        parents.splice(depth)
        parents.push(name)
        return parents.join('')
      },
    )
  }

  it('has each folder of src, and of the folders that it opens, and names none that does not exist', () => {
    const map = readMap()
    expect(map.filter((path) => !existsSync(join(root, path)))).toEqual([])
    const opened = [
      'src/',
      ...map.filter((path) => map.some((other) => other !== path && other.startsWith(path))),
    ]
    const folders = opened.flatMap((path) =>
      readdirSync(join(root, path), { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map(({ name }) => `${path}${name}/`),
    )
    expect(folders.filter((path) => !map.includes(path))).toEqual([])
  })
})

describe('the chapters of docs/design', () => {
  const text = sources.map(read).join('\n')
  // Names in camelCase, snake_case and SCREAMING_CASE, words of the code such as `errors.slugTaken`, and paths.
  const nameOfCode = /^(?:[a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*|[A-Za-z]+_\w+|[\w$]+\.[\w$.]+)(?:\(\))?$/
  // Functions of PostgreSQL.
  const ofPostgres = /^pg_\w+(?:\(\))?$/
  const path = /^(?:src|tests|bench|scripts|drizzle|deploy|docs|packages)\/[\w./-]*$/

  it.each(chapters)('%s names only code that exists', (file) => {
    const names = Array.from(read(file).matchAll(/`([^`\n]+)`/g), ([, name = '']) => name)
    const missing = names.filter((name) =>
      path.test(name)
        ? !existsSync(join(root, name))
        : nameOfCode.test(name) &&
          !ofPostgres.test(name) &&
          !text.includes(name.replace('()', '')) &&
          ![root, join(root, 'src')].some((folder) => existsSync(join(folder, name))),
    )
    expect(missing).toEqual([])
  })

  it('have fewer than 20,000 words', () => {
    const texts = chapters.filter((file) => !file.endsWith('/README.md'))
    const words = texts.flatMap((file) => read(file).split(/\s+/).filter(Boolean))
    expect(words.length).toBeLessThan(20_000)
  })
})
