// Deletes from node_modules what the built service does not load: the packages that are bundled in dist/, those that
// nothing at run time depends on, such as optional peers, type declarations and source maps. Licenses stay.
// `node scripts/prune-modules.cjs`, after `npm ci --omit=dev`, and for good: what is left only runs dist/.
'use strict'

const { existsSync, readdirSync, readFileSync, rmdirSync, rmSync, statSync } = require('node:fs')
const { join, relative, sep } = require('node:path')
const { isBundled } = require('./build.cjs')

const root = join(__dirname, '..')
const modules = join(root, 'node_modules')

const readPackage = (folder) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))

/** The folder of a package as Node.js finds it from another folder; undefined if it is not installed. */
function findPackage(name, from) {
  for (let folder = from; ; folder = join(folder, '..')) {
    const found = join(folder, 'node_modules', name)
    if (existsSync(join(found, 'package.json'))) return found
    if (folder === root) return undefined
  }
}

/** The folders of some packages, and of everything that they depend on. */
function collect(names, from, folders = new Set()) {
  for (const name of names) {
    const folder = findPackage(name, from)
    if (folder === undefined || folders.has(folder)) continue
    folders.add(folder)
    const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } = readPackage(folder)
    const peers = Object.keys(peerDependencies ?? {}).filter(
      (peer) => !peerDependenciesMeta?.[peer]?.optional,
    )
    collect([...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers], folder, folders)
  }
  return folders
}

/** Whether a file is of no use at run time, or is a license, which stays. */
const isUseless = (name) => /\.(d\.[cm]?ts|map)$/.test(name)
const isLicense = (name) => /^(licen[cs]e|notice|copying)/i.test(name)

const kept = collect(
  Object.keys(readPackage(root).dependencies).filter((name) => !isBundled(name)),
  root,
)

/** The package that a file belongs to: the folder below the last node_modules, with its scope. */
function packageOf(path) {
  const parts = relative(root, path).split(sep)
  const start = parts.lastIndexOf('node_modules') + 1
  return join(root, ...parts.slice(0, start + (parts[start].startsWith('@') ? 2 : 1)))
}

/** Whether nothing is left in a folder; then it is deleted. */
function removeEmptyFolders(folder) {
  const entries = readdirSync(folder, { withFileTypes: true })
  const left = entries.filter(
    (entry) => !entry.isDirectory() || !removeEmptyFolders(join(folder, entry.name)),
  )
  if (left.length === 0) rmdirSync(folder)
  return left.length === 0
}

let bytes = 0
for (const entry of readdirSync(modules, { recursive: true, withFileTypes: true })) {
  if (entry.isDirectory()) continue
  const path = join(entry.parentPath ?? entry.path, entry.name)
  const isNeeded = kept.has(packageOf(path)) ? !isUseless(entry.name) : isLicense(entry.name)
  if (isNeeded) bytes += statSync(path).size
  else rmSync(path)
}
removeEmptyFolders(modules)
console.log(`${kept.size} packages with ${(bytes / 1e6).toFixed(1)} MB are left in node_modules.`)
