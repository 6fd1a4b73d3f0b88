import type { Socket } from 'node:net'
import v8 from 'node:v8'
import { runInNewContext } from 'node:vm'
import { sql } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { buildUpload } from '../support/forms.ts'
import { createCompany } from '../support/company.ts'
import { beginPost, listen } from '../support/raw-http.ts'
import { selectRows, startTestApp } from '../support/test-app.ts'
import { listUploads, makeFolder } from '../support/uploads.ts'

const mebibyte = 1024 * 1024
const service = await startTestApp({ environment: { DATA_DIR: await makeFolder() } })
const company = await createCompany(service)
const port = await listen(service.app)
const url = `/v1/workspaces/${company.workspace.slug}/attachments`

/** Sends all of a form but its end, as a sender that has become slow. */
async function sendMost(form: ReturnType<typeof buildUpload>): Promise<Socket> {
  const socket = beginPost(port, url, {
    connection: 'close',
    authorization: `Bearer ${company.member.apiKey}`,
    ...form.headers,
    'content-length': form.payload.length,
  })
  await new Promise((resolve) => socket.write(form.payload.subarray(0, -100), resolve))
  return socket
}

const readAll = async (socket: Socket) => {
  let text = ''
  for await (const chunk of socket) text += String(chunk)
  return text
}

v8.setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** How much memory buffers have, without garbage. */
const held = () => {
  collect()
  return process.memoryUsage().arrayBuffers
}

it('holds little of uploads whose senders are slow', async () => {
  const form = buildUpload(Buffer.alloc(24 * mebibyte, 'a'), { filename: 'a.txt' })
  const before = held()
  // Two for each person run at once; these wait for their bodies, and for no turn.
  const sockets = await Promise.all(Array.from({ length: 8 }, () => sendMost(form)))
  await expect.poll(() => listUploads(service).then((files) => files.length)).toBe(8)
  // In whole they would have 192 MiB.
  expect((held() - before) / mebibyte).toBeLessThan(48)
  for (const socket of sockets) socket.write(form.payload.subarray(-100))
  const answers = await Promise.all(sockets.map(readAll))
  expect(answers.map((answer) => answer.slice(0, 15))).toEqual(answers.map(() => 'HTTP/1.1 200 OK'))
  const rows = await selectRows(db(), sql`select bytes from attachments`)
  expect(rows).toEqual(rows.map(() => ({ bytes: 24 * mebibyte })))
})

const db = () => service.db
