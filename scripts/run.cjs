// Builds the service if needed and runs one of its programs, such as `node scripts/run.cjs server`. It runs in this
// process, so that signals and exit codes work on every system.
'use strict'

const { ensureBuilt } = require('./build.cjs')
const { join } = require('node:path')
const { pathToFileURL } = require('node:url')

ensureBuilt()
const [program, ...options] = process.argv.slice(2)
const file = join(__dirname, '..', 'dist', `${program}.js`)
process.argv = [process.argv[0], file, ...options]
import(pathToFileURL(file).href)

// npm runs this through a shell and sends signals only to the shell. `exec` would replace the shell, but Windows does not
// have it. So the service stops when the shell has ended.
if (process.env.npm_lifecycle_event) {
  const shell = process.ppid
  const watch = setInterval(() => {
    if (process.ppid === shell) return
    clearInterval(watch)
    process.kill(process.pid, 'SIGTERM')
  }, 100).unref()
}
