import { createRequire } from 'node:module'

// First, and alone: an unsuitable Node fails while the rest is imported, and does not say why.
createRequire(import.meta.url)('../scripts/require-node.cjs')
// Stack traces name the files of src/.
process.setSourceMapsEnabled(true)
await import('./process.ts')
