// Runs a program of the service, such as `node scripts/run.cjs server`, after building it when that is needed. In this
// process, so that signals and exit codes are the program's own, on every system.
'use strict'

const { ensureBuilt } = require('./build.cjs')
const { join } = require('node:path')
const { pathToFileURL } = require('node:url')

ensureBuilt()
const [program, ...options] = process.argv.slice(2)
const file = join(__dirname, '..', 'dist', `${program}.js`)
process.argv = [process.argv[0], file, ...options]
import(pathToFileURL(file).href)

// npm runs this through a shell, and passes signals to the shell alone. `exec` would put this process in the shell's
// place, but Windows has no such command. So the service stops when the shell is gone.
if (process.env.npm_lifecycle_event) {
  const shell = process.ppid
  const watch = setInterval(() => {
    if (process.ppid === shell) return
    clearInterval(watch)
    process.kill(process.pid, 'SIGTERM')
  }, 100).unref()
}
