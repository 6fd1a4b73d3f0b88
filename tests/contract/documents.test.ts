import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '../..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const documentsIn = (folder: string) =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name))
const decisions = documentsIn('docs/decisions').filter((file) => !file.endsWith('README.md'))
const documents = [...documentsIn('.'), ...documentsIn('docs'), ...documentsIn('docs/decisions')]

/** The anchors of a document's headings, as GitHub makes them. */
function anchorsOf(file: string): string[] {
  return [...read(file).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

describe('the index of decisions', () => {
  it('lists every decision with its title', () => {
    const listed = [...read('docs/decisions/README.md').matchAll(/^- \[(.+?)\]\((.+?)\)/gm)]
    expect(listed.map(([, title, file]) => [file, `# ${title}`])).toEqual(
      decisions.map((file) => [file.split('/').at(-1), read(file).split('\n')[0]]),
    )
  })
})

/** The files of code. */
const sources = ['src', 'tests', 'scripts', 'bench', 'public']
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  )
  .filter((name) => /\.([cm]?js|ts)$/.test(name) && !name.includes('node_modules'))

/** All matches of a pattern in all documents, each with its document. */
const findAll = (pattern: RegExp) =>
  documents.flatMap((document) =>
    [...read(document).matchAll(pattern)].map(([, target = '', anchor]) => ({ document, target, anchor })),
  )

describe('documents', () => {
  it('link only to existing files and headings', () => {
    // `user:` is the scheme of mentions in examples of comments.
    const links = findAll(/\]\((?!https?:|cursor:|user:)([^)#\s]*)(?:#([^)]*))?\)/g)
    const isBroken = ({ document, target, anchor }: (typeof links)[number]) => {
      const file = target === '' ? document : join(dirname(document), target)
      return !existsSync(join(root, file)) || (anchor !== undefined && !anchorsOf(file).includes(anchor))
    }
    expect(links.length).toBeGreaterThan(50)
    expect(links.filter(isBroken)).toEqual([])
  })

  it('name only existing files of the repository', () => {
    const paths = findAll(
      /(?<![\w./:@*}-])((?!dist\/)(?:[\w.-]+\/)+[\w.-]+\.(?:ts|md|json|c?js|css))\b(?![\w/])/g,
    )
    const isThere = ({ document, target }: (typeof paths)[number]) =>
      [root, join(root, 'src'), join(root, 'tests'), join(root, dirname(document))].some((folder) =>
        existsSync(join(folder, target)),
      )
    expect(paths.length).toBeGreaterThan(200)
    expect(paths.filter((path) => !isThere(path))).toEqual([])
  })

  it('name only existing files, also without their folder', () => {
    const names = findAll(/(?<!`)`([\w-][\w.-]*\.(?:ts|c?js))`/g)
    const { dependencies } = JSON.parse(read('package.json')) as { dependencies: object }
    const existing = new Set([...sources, ...readdirSync(root)].map((file) => basename(file)))
    // Packages have such names too.
    for (const name of Object.keys(dependencies)) existing.add(name)
    expect(names.length).toBeGreaterThan(5)
    expect(names.filter(({ target }) => !existing.has(target))).toEqual([])
  })

  it('list only existing folders in the map of CONTRIBUTING.md', () => {
    const map = /^```text\n(src\/\n.*?)^```/ms.exec(read('CONTRIBUTING.md'))?.[1] ?? ''
    const parents: string[] = []
    const places = [...map.matchAll(/^( {0,4})([\w.-]+\/?)(?: |$)/gm)].map(([, indent = '', name = '']) => {
      parents.length = indent.length / 2
      parents.push(name)
      return parents.join('/')
    })
    expect(places.length).toBeGreaterThan(50)
    expect(places.filter((place) => !existsSync(join(root, place)))).toEqual([])
  })

  it('contain only excerpts that are in the code', () => {
    const compact = (text: string) => text.replaceAll(/\s+/g, '')
    const code = sources.filter((file) => file.startsWith('src/')).map((file) => compact(read(file)))
    const excerpts = [...read('docs/first-operation.md').matchAll(/```ts\n(.*?)```/gs)]
    expect(excerpts.length).toBeGreaterThan(0)
    for (const [, excerpt = ''] of excerpts)
      expect(
        code.some((text) => text.includes(compact(excerpt))),
        excerpt,
      ).toBe(true)
  })
})

describe('names of code in documents', () => {
  // Of browsers, systemd and Kubernetes.
  const namesOfOthers = ['HttpOnly', 'ExecStart', 'terminationGracePeriodSeconds']

  const words = new Set([...sources, 'package.json'].flatMap((file) => read(file).match(/[\w$]+/g) ?? []))

  it('exist in the code', () => {
    const named = findAll(/(?<!`)`([A-Za-z_$][\w$.]*)(?:\([^`]*\))?`(?!`)/g).flatMap(({ document, target }) =>
      target
        .split('.')
        .filter((name) => /[a-z][A-Z]/.test(name) && !namesOfOthers.includes(name))
        .map((name) => ({ document, name })),
    )
    expect(named.length).toBeGreaterThan(100)
    expect(named.filter(({ name }) => !words.has(name))).toEqual([])
  })
})

describe('the ways to install the MCP server', () => {
  const url = 'http://localhost:3000/agent/mcp'
  const configOf = (prefix: string) => {
    const link = [...read('README.md').matchAll(/\]\(([^)]+)\)/g)].find(([, to = '']) =>
      to.startsWith(prefix),
    )?.[1]
    const { searchParams } = new URL(String(link))
    expect(searchParams.get('name')).toBe('workspace')
    return String(searchParams.get('config'))
  }

  it('include a link for VS Code and one for Cursor', () => {
    const config = configOf('https://insiders.vscode.dev/redirect/mcp/install?')
    expect(JSON.parse(config)).toEqual({ type: 'http', url })
    const encoded = configOf('cursor://anysphere.cursor-deeplink/mcp/install?')
    expect(JSON.parse(Buffer.from(encoded, 'base64').toString())).toEqual({ url })
  })

  it('include an entry for the registry, with the version of the package', () => {
    const server = JSON.parse(read('server.json')) as Record<string, unknown>
    expect(server).toMatchObject({
      version: (JSON.parse(read('package.json')) as { version: string }).version,
      remotes: [{ type: 'streamable-http', url: 'https://workspace.example.com/agent/mcp' }],
    })
    // The bounds of the registry's schema.
    expect(server.name).toMatch(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/)
    expect(String(server.description).length).toBeLessThanOrEqual(100)
  })
})

describe('SECURITY.md', () => {
  it('names only existing tests', () => {
    const names = [...read('SECURITY.md').matchAll(/`([\w/.-]+\.test\.ts)`/g)]
    expect(names.length).toBeGreaterThan(20)
    expect(names.filter(([, name = '']) => !existsSync(join(root, 'tests', name)))).toEqual([])
  })
})
