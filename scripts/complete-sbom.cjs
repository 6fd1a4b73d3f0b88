// Completes the SBOM that npm wrote of the packages of the service, for the image: names the service as its package does,
// and adds Node.js and the packages of Debian. `node scripts/complete-sbom.cjs sbom.cdx.json`
'use strict'

const { existsSync, readFileSync, writeFileSync } = require('node:fs')
const { join } = require('node:path')

const [file = 'sbom.cdx.json', statusFile = '/var/lib/dpkg/status'] = process.argv.slice(2)
const { name } = JSON.parse(readFileSync(join(__dirname, '../package.json'), 'utf8'))
const sbom = JSON.parse(readFileSync(file, 'utf8'))

/** The fields of each paragraph of a file of dpkg, without the lines that continue one. */
function readParagraphs(text) {
  return text
    .split(/\n\n+/)
    .map((paragraph) =>
      Object.fromEntries([...paragraph.matchAll(/^([\w-]+): (.*)$/gm)].map(([, ...field]) => field)),
    )
}

const debian = existsSync(statusFile)
  ? readParagraphs(readFileSync(statusFile, 'utf8')).filter(({ Status }) => Status === 'install ok installed')
  : []
const node = process.versions.node

// npm takes the name of the folder.
sbom.metadata.component.name = name
sbom.components.push(
  {
    'bom-ref': `node@${node}`,
    type: 'platform',
    name: 'node',
    version: node,
    purl: `pkg:generic/node@${node}`,
    cpe: `cpe:2.3:a:nodejs:node.js:${node}:*:*:*:*:*:*:*`,
    licenses: [{ license: { id: 'MIT' } }],
  },
  ...debian.map(({ Package, Version, Architecture }) => {
    const purl = `pkg:deb/debian/${Package}@${encodeURIComponent(Version)}?arch=${Architecture}`
    return { 'bom-ref': purl, type: 'library', name: Package, version: Version, purl }
  }),
)
writeFileSync(file, `${JSON.stringify(sbom, undefined, 2)}\n`)
console.log(`${file} names ${sbom.components.length} packages, ${debian.length} of them of Debian.`)
