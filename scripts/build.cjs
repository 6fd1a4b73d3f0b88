// Bundles src/ into dist/, and packs the client there, unless dist/ is up to date. `npm run types` checks the types.
'use strict'

require('./require-node.cjs')
const { execFileSync, execSync } = require('node:child_process')
const { createHash } = require('node:crypto')
const { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } = require('node:fs')
const { join } = require('node:path')

const root = join(__dirname, '..')
const stamp = join(root, 'dist', '.built-from')

// The packages of many small files that every start loads, which would take most of its time (more on Node 24, which
// reads the long package.json of drizzle-orm again for each file), and JSON, whose import needs an attribute that the bundler
// leaves out. Other packages are not bundled: they are loaded on first use, have a native part, import CommonJS with names, as
// @fastify/cookie does, or are shared with one of these, as pg is.
const bundled =
  /^(drizzle-orm|@sinclair\/typebox|fastify|fastify-plugin|@fastify\/(?!cookie$).*|ajv|ajv-formats|helmet|tlds)$/

// For bundled CommonJS packages, which load modules of Node.js and packages that are not bundled.
const requireInModules =
  "import { createRequire as createRequireOfBundle } from 'node:module'\n" +
  'const require = createRequireOfBundle(import.meta.url)'

/**
 * Builds dist/ if src/ has changed, and packs the client if packages/client has; the check takes about 20 ms. Does nothing
 * without them, as in the container image. Ends the process when the build fails.
 */
function ensureBuilt() {
  if (existsSync(join(root, 'src'))) ensureBundled()
  if (existsSync(join(root, 'packages', 'client'))) ensureClientPacked()
}

function ensureBundled() {
  const sources = hashFiles(['src'], ['scripts/build.cjs', 'tsconfig.json', 'package-lock.json'])
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === sources) return
  const { buildSync } = requireBundler()
  const { dependencies } = require('../package.json')
  // Old chunks are kept, since a running process may still load some of them.
  rmSync(stamp, { force: true })
  try {
    buildSync({
      absWorkingDir: root,
      entryPoints: ['src/server.ts', 'src/cli/admin.ts'],
      outbase: 'src',
      outdir: 'dist',
      // At the depth of the files of src/ that resolve paths relative to themselves.
      chunkNames: 'chunks/[name]-[hash]',
      bundle: true,
      // The engine keeps the text of modules in memory: without spaces and comments 4 MB less. Names stay. Node.js prints the
      // line of an error that nothing catches, so lines stay short.
      minifyWhitespace: true,
      lineLimit: 200,
      splitting: true,
      sourcemap: true,
      // Stack traces need the positions alone, and the process keeps the maps in memory.
      sourcesContent: false,
      format: 'esm',
      platform: 'node',
      banner: { js: requireInModules },
      target: 'node20',
      external: Object.keys(dependencies)
        .filter((name) => !bundled.test(name))
        .flatMap((name) => [name, `${name}/*`]),
    })
  } catch {
    // esbuild has printed the error.
    process.exit(1)
  }
  writeFileSync(stamp, sources)
}

/**
 * Packs packages/client as dist/workspace-client-VERSION.tgz, which the service serves (src/assets/client-package.ts). The
 * service runs without it, so a failure is a warning.
 */
function ensureClientPacked() {
  const folder = join(root, 'packages', 'client')
  const dist = join(root, 'dist')
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const file = join(dist, `workspace-client-${version}.tgz`)
  const packedFrom = join(dist, '.client-packed-from')
  const sources = hashFiles(
    ['packages/client/src'],
    [
      ...['package.json', 'README.md', 'tsconfig.json'].map((name) => `packages/client/${name}`),
      ...['scripts/build.cjs', 'tsconfig.json', 'package-lock.json'],
    ],
  )
  if (existsSync(file) && existsSync(packedFrom) && readFileSync(packedFrom, 'utf8') === sources) return
  rmSync(join(folder, 'dist'), { recursive: true, force: true })
  for (const name of readdirSync(dist)) if (/^workspace-client-.*\.tgz$/.test(name)) rmSync(join(dist, name))
  try {
    // Not by the script of npm pack, which does not run for those who turned scripts off.
    execFileSync(process.execPath, [require.resolve('typescript/bin/tsc'), '-p', folder], {
      stdio: 'inherit',
    })
    const packed = execSync(`npm pack --ignore-scripts --json --pack-destination "${dist}"`, { cwd: folder })
    renameSync(join(dist, JSON.parse(packed)[0].filename.replace(/^@/, '').replace('/', '-')), file)
    writeFileSync(packedFrom, sources)
  } catch (error) {
    console.error(`The typed client cannot be packed, so /docs does not offer it: ${error.message}`)
  }
}

/** A digest of all inputs of a build. Of contents, not times, which a checkout or a copy changes. */
function hashFiles(folders, others) {
  const hash = createHash('sha256')
  const files = folders
    .flatMap((folder) => readdirSync(join(root, folder), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath || entry.path, entry.name))
    .sort()
  for (const file of [...files, ...others]) {
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
      'The service is not built, and the development packages are not installed' +
        `${process.env.NODE_ENV === 'production' ? ' (npm leaves them out with NODE_ENV=production)' : ''}. ` +
        'Run: npm ci --include=dev && npm run build && npm prune --omit=dev',
    )
    process.exit(1)
  }
}

/** Whether dist/ contains a package, so that the service does not load it from node_modules. */
const isBundled = (name) => bundled.test(name)

module.exports = { ensureBuilt, isBundled }

if (require.main === module) ensureBuilt()
