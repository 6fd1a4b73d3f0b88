import { createRequire } from 'node:module'

// Before all other imports: an unsupported version of Node.js fails in one of them with an unclear error.
createRequire(import.meta.url)('../scripts/require-node.cjs')
// Maps stack traces to the files of src/.
process.setSourceMapsEnabled(true)
await import('./process.ts')
