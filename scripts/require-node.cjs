// Ends the process with one line if this version of Node.js is not supported. It is loaded before all other modules,
// since an old version fails in one of them with an unclear error. Written in ES5, so that any version can parse it.
'use strict'

var range = require('../package.json').engines.node

/** Whether a version, such as `20.19.1`, is in a range of the forms `^20.19.0 || >=24.0.0`. */
function isInRange(version, text) {
  return text.split('||').some(function (part) {
    var bounds = /^(\^|>=)(\d+)\.(\d+)\.(\d+)$/.exec(part.trim())
    if (!bounds) throw new Error('unsupported range in engines.node of package.json: ' + part)
    var least = bounds.slice(2).map(Number)
    var given = version.split(/[.-]/).slice(0, 3).map(Number)
    if (bounds[1] === '^' && given[0] !== least[0]) return false
    for (var i = 0; i < 3; i++) if (given[i] !== least[i]) return given[i] > least[i]
    return true
  })
}

if (!isInRange(process.versions.node, range)) {
  console.error('Node ' + range + ' is required; this is ' + process.version + '.')
  process.exit(1)
}
