import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { createCompany } from '../support/company.ts'
import { buildUpload } from '../support/forms.ts'
import { beginPost, listen, readAnswer } from '../support/raw-http.ts'
import { startTestApp } from '../support/test-app.ts'
import { listUploads, makeFolder } from '../support/uploads.ts'

const bodyMsMax = 400
const service = await startTestApp({
  environment: { DATA_DIR: await makeFolder() },
  slowSenders: { bodyMsMax },
})
const { owner, workspace } = await createCompany(service)
const port = await listen(service.app)
const files = `/v1/workspaces/${workspace.slug}/attachments`

/** Sends the headers of a request, and the first half of its body. Its connection stays open unless it is to `close`. */
function sendHalf(path: string, key: string, type: string, body: Buffer, connection = 'keep-alive'): Socket {
  const socket = beginPost(port, path, {
    authorization: `Bearer ${key}`,
    'content-type': type,
    'content-length': body.length,
    connection,
  })
  socket.write(body.subarray(0, body.length / 2))
  return socket
}

const json = 'application/json'
const workspaceBody = Buffer.from(JSON.stringify({ name: 'A', slug: 'a' }))
const form = buildUpload(Buffer.alloc(200_000, 'a'), { filename: 'a.txt' })
const formType = form.headers['content-type']

it.each([
  ['JSON', 400, '/v1/workspaces', owner.apiKey, json, workspaceBody],
  ['a picture', 400, '/v1/me/photo', owner.apiKey, formType, form.payload],
  ['to a path that does not exist', 404, '/v1/nothing', owner.apiKey, json, workspaceBody],
  ['a file of somebody who may not upload it', 401, files, 'not-a-key', formType, form.payload],
])('ends the request of a body that does not arrive: %s', async (_, status, path, key, type, body) => {
  const startedAt = performance.now()
  expect((await readAnswer(sendHalf(path, key, type, body))).statusCode).toBe(status)
  expect(performance.now() - startedAt).toBeLessThan(bodyMsMax * 10)
  expect(service.log.filter((line) => /"level":(?:50|60)/.test(line))).toEqual([])
})

it('waits longer for a file of somebody who may upload it', async () => {
  const { payload } = form
  const socket = sendHalf(files, owner.apiKey, formType, payload, 'close')
  const answer = readAnswer(socket)
  // The other request comes later, and is ended for its slowness: the time of a body is over.
  await once(socket, 'connect')
  await expect.poll(() => listUploads(service)).toHaveLength(1)
  const other = await readAnswer(sendHalf('/v1/workspaces', owner.apiKey, json, workspaceBody))
  expect(other.statusCode).toBe(400)
  socket.write(payload.subarray(payload.length / 2))
  expect((await answer).statusCode).toBe(200)
})

it('disconnects a client that does not end its side after the answer', async () => {
  const connections = promisify(service.app.server.getConnections.bind(service.app.server))
  await expect.poll(() => connections()).toBe(0)
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  socket.write(
    `POST /v1/workspaces HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${owner.apiKey}\r\nContent-Length: 9\r\n\r\n`,
  )
  await once(socket, 'readable')
  await expect.poll(() => connections()).toBe(0)
  socket.destroy()
})
