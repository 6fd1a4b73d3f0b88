import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import ts from 'typescript'

const root = new URL('../../', import.meta.url).pathname

/** The flags of routes that are declared, and the names of decorators, in all files of src/. */
function findNames(): string[] {
  const files = execFileSync(
    'git',
    ['grep', '-lE', 'FastifyContextConfig|decorateRe(ply|quest)', '--', 'src'],
    {
      cwd: root,
      encoding: 'utf8',
    },
  )
  const names: string[] = []
  for (const file of files.split('\n').filter(Boolean)) {
    const source = ts.createSourceFile(file, readFileSync(join(root, file), 'utf8'), ts.ScriptTarget.Latest)
    const visit = (node: ts.Node): void => {
      if (ts.isInterfaceDeclaration(node) && node.name.text === 'FastifyContextConfig')
        for (const { name } of node.members) if (name && ts.isIdentifier(name)) names.push(name.text)
      if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
        const [name] = node.arguments
        if (/^decorateRe(ply|quest)$/.test(node.expression.name.text) && name && ts.isStringLiteral(name))
          names.push(name.text)
      }
      ts.forEachChild(node, visit)
    }
    visit(source)
  }
  return [...new Set(names)].toSorted()
}

it('docs/first-operation.md has every flag and function of routes, and no other', () => {
  const page = readFileSync(join(root, 'docs/first-operation.md'), 'utf8')
  const [, section = ''] = /## Flags and functions of routes\n([^]*?)\n## /.exec(page) ?? []
  const rows = Array.from(section.matchAll(/^\| (`[^|]*) \|/gm), ([, first = '']) => first)
  const listed = rows.flatMap((row) => Array.from(row.matchAll(/`(\w+)`/g), ([, name]) => name))
  expect([...new Set(listed)].toSorted()).toEqual(findNames())
})
