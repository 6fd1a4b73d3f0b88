import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import Fastify from 'fastify'
import { findClientPackage, serveClientPackage, type ClientPackage } from '../../src/assets/client-package.ts'
import { readApiDescription } from '../../src/website/docs/api-description.ts'
import { renderReference } from '../../src/website/docs/docs.views.ts'
import { startTestApp } from '../support/test-app.ts'

const content = Buffer.from('a package')
const fileName = 'workspace-client-1.2.3-rc.4.tgz'

function makeFolder(...names: string[]): URL {
  const folder = mkdtempSync(join(tmpdir(), 'client-package-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const name of names) writeFileSync(join(folder, name), content)
  return pathToFileURL(`${folder}/`)
}

it('is found by its name, if it was packed', () => {
  const found = findClientPackage(makeFolder('server.js', '.client-packed-from', fileName))
  expect(found).toEqual({ fileName, url: `/docs/${fileName}`, content })
  expect(findClientPackage(makeFolder('server.js'))).toBeUndefined()
  expect(findClientPackage(pathToFileURL('/nowhere/dist/'))).toBeUndefined()
})

it('is served under its name alone, to be kept', async () => {
  const app = Fastify()
  serveClientPackage(app, { fileName, url: `/docs/${fileName}`, content })
  const answer = await app.inject(`/docs/${fileName}`)
  expect(answer.rawPayload).toEqual(content)
  expect(answer.headers).toMatchObject({
    'content-type': 'application/gzip',
    'cache-control': 'public, max-age=31536000, immutable',
  })
  for (const url of ['/docs/workspace-client-1.2.4.tgz', '/docs/workspace-client.tgz', '/docs/server.js'])
    expect((await app.inject(url)).statusCode).toBe(404)
  await app.close()
})

it('is in the reference with the host of the service, if it was packed', async () => {
  const { app, config } = await startTestApp()
  const description = readApiDescription(app.swagger())
  const bodyOf = (...packed: [ClientPackage?]) => String(renderReference(description, ...packed).body)
  expect(bodyOf({ fileName, url: `/docs/${fileName}`, content })).toContain(
    `curl -fO ${config.baseUrl}/docs/${fileName}\nnpm install ./${fileName}</pre`,
  )
  expect(bodyOf()).not.toMatch(/npm install|workspace-client/)
})
