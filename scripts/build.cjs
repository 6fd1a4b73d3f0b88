// Compiles src/ into dist/, unless dist/ was made from the same sources.
'use strict'

require('./require-node.cjs')
const { spawnSync } = require('node:child_process')
const { createHash } = require('node:crypto')
const { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } = require('node:fs')
const { join } = require('node:path')

const root = join(__dirname, '..')
const stamp = join(root, 'dist', '.built-from')

/**
 * Makes dist/ what src/ says, in some twenty milliseconds when it is so already. Where there are no sources, as in the
 * container image, dist/ is taken as it is. Ends the process when it cannot be built.
 */
function ensureBuilt() {
  if (!existsSync(join(root, 'src'))) return
  const sources = hashSources()
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === sources) return
  requireCompiler()
  const compiler = require.resolve('typescript/bin/tsc')
  const { status } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], {
    cwd: root,
    stdio: 'inherit',
  })
  if (status !== 0) {
    rmSync(stamp, { force: true })
    process.exit(status || 1)
  }
  writeFileSync(stamp, sources)
}

/** A digest of everything that the output depends on. Contents, not times: a checkout or a copy changes those. */
function hashSources() {
  const hash = createHash('sha256')
  const files = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath || entry.path, entry.name))
    .sort()
  for (const file of [...files, 'tsconfig.json', 'tsconfig.build.json', 'package-lock.json']) {
    const path = file.startsWith(root) ? file : join(root, file)
    hash.update(`${path.slice(root.length)}\0`).update(readFileSync(path))
  }
  return hash.digest('hex')
}

/** Another package may bring a TypeScript of its own; without the declarations it only finds fault with everything. */
function requireCompiler() {
  const { devDependencies } = require('../package.json')
  const needed = Object.keys(devDependencies).filter((name) => /^(typescript$|@types\/)/.test(name))
  const missing = needed.filter((name) => !existsSync(join(root, 'node_modules', name, 'package.json')))
  if (missing.length === 0) return
  console.error(
    `The service must be built first, and ${missing.length === needed.length ? 'the development packages are' : `${missing.join(', ')} is`} not installed` +
      `${process.env.NODE_ENV === 'production' ? ' (npm leaves them out with NODE_ENV=production)' : ''}. ` +
      'Run: npm ci --include=dev && npm run build && npm prune --omit=dev',
  )
  process.exit(1)
}

module.exports = { ensureBuilt }

if (require.main === module) ensureBuilt()
