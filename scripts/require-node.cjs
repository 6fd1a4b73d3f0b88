// Ends the process with one line when this Node cannot run the service. Whatever starts the service loads this file
// before anything else: an older Node fails at the first import that it lacks, with an error that does not say why.
// Plain old JavaScript, so that any Node can read it.
'use strict'

var range = require('../package.json').engines.node

/** Whether a version, such as `20.19.1`, is in a range of the forms `^20.19.0 || >=24.0.0`. */
function isInRange(version, text) {
  return text.split('||').some(function (part) {
    var bounds = /^(\^|>=)(\d+)\.(\d+)\.(\d+)$/.exec(part.trim())
    if (!bounds) throw new Error('engines.node in package.json has a part of another form: ' + part)
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
