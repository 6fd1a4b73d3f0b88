// Bundles src/ into dist/, unless dist/ was made from the same sources. Types are checked by `npm run types`.
'use strict'

require('./require-node.cjs')
const { createHash } = require('node:crypto')
const { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } = require('node:fs')
const { join } = require('node:path')

const root = join(__dirname, '..')
const stamp = join(root, 'dist', '.built-from')

// Packages of hundreds of small files, which take half of the time that the process takes to start (on Node 24 more,
// which reads the long package.json of drizzle-orm again for each of its files). All others are loaded as they are.
const bundled = ['drizzle-orm', '@sinclair/typebox']

/**
 * Makes dist/ what src/ says, in some twenty milliseconds when it is so already. Where there are no sources, as in the
 * container image, dist/ is taken as it is. Ends the process when it cannot be built.
 */
function ensureBuilt() {
  if (!existsSync(join(root, 'src'))) return
  const sources = hashSources()
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === sources) return
  const { buildSync } = requireBundler()
  const { dependencies } = require('../package.json')
  // Former chunks stay: a process that runs loads some of them only when they are needed.
  rmSync(stamp, { force: true })
  try {
    buildSync({
      absWorkingDir: root,
      entryPoints: ['src/server.ts', 'src/cli/admin.ts'],
      outbase: 'src',
      outdir: 'dist',
      // Two levels deep, as the files of src/ are that find others by their own place.
      chunkNames: 'chunks/[name]-[hash]',
      bundle: true,
      splitting: true,
      sourcemap: true,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      external: Object.keys(dependencies)
        .filter((name) => !bundled.includes(name))
        .flatMap((name) => [name, `${name}/*`]),
    })
  } catch {
    // It has said why.
    process.exit(1)
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
  for (const file of [...files, 'scripts/build.cjs', 'tsconfig.json', 'package-lock.json']) {
    const path = file.startsWith(root) ? file : join(root, file)
    hash.update(`${path.slice(root.length)}\0`).update(readFileSync(path))
  }
  return hash.digest('hex')
}

function requireBundler() {
  try {
    return require('esbuild')
  } catch {
    console.error(
      'The service must be built first, and the development packages are not installed' +
        `${process.env.NODE_ENV === 'production' ? ' (npm leaves them out with NODE_ENV=production)' : ''}. ` +
        'Run: npm ci --include=dev && npm run build && npm prune --omit=dev',
    )
    process.exit(1)
  }
}

module.exports = { ensureBuilt }

if (require.main === module) ensureBuilt()
