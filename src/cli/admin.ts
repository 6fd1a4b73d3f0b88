import { createRequire } from 'node:module'

// First: an unsupported version of Node would fail while the rest is imported, without saying why.
createRequire(import.meta.url)('../../scripts/require-node.cjs')
process.setSourceMapsEnabled(true)
await import('./program.ts')
