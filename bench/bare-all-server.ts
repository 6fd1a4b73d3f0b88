// All bare servers in one process, each on a port of its own: that of PORT, and three that the arguments name.
const port = process.env.PORT
const [writes, kit, oauth] = process.argv.slice(2)
// They read it while they are imported.
process.env.PORT = writes
await import('./bare-writes-server.ts')
process.env.PORT = kit
await import('./bare-kit-server.ts')
process.env.PORT = oauth
await import('./bare-oauth-server.ts')
process.env.PORT = port
await import('./bare-server.ts')
