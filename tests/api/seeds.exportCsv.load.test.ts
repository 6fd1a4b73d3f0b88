import { connect } from 'node:net'
import v8 from 'node:v8'
import { runInNewContext } from 'node:vm'
import { sql } from 'drizzle-orm'
import { expect, it, onTestFinished } from 'vitest'
import { createCompany, get } from '../support/company.ts'
import { listen } from '../support/raw-http.ts'
import { startTestApp } from '../support/test-app.ts'

const mebibyte = 1024 * 1024
const count = 10_000
const filledAtOnce = 500
// With the end of the chunk before: a row may end with a zero.
const lastChunk = '\r\n0\r\n\r\n'

// A reader that takes nothing for as long as the test looks is not disconnected.
const service = await startTestApp({ slowReaders: { stalledMsMax: 120_000, waitingBytesMax: Infinity } })
const { db } = service
const company = await createCompany(service)
const url = `/v1/workspaces/${company.workspace.slug}/seeds/export`
// 40 MB: more than the kernel takes for a reader.
for (let from = 1; from <= count; from += filledAtOnce)
  await db.execute(sql`
  insert into seeds (id, workspace_id, title, summary, problem, audience, status, created_at, updated_at, activity_at)
  select overlay(gen_random_uuid()::text placing '7' from 15)::uuid, ${company.workspace.id}, 'T' || i, text, text, text, 'open', now() - i * interval '1 second', now(), now()
  from generate_series(${from}::int, ${from + filledAtOnce - 1}::int) as i, (select repeat('evidence ', 150) as text) as texts`)

v8.setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
const held = () => {
  collect()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

const requestText = `GET ${url} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer ${company.viewer.apiKey}\r\n\r\n`

it('of 10,000 seeds holds few of them in memory, and no connection to the database while a slow reader waits', async () => {
  const port = await listen(service.app)
  // What the first request loads is not held for a reader.
  expect((await service.as(company.viewer, get(url))).statusCode).toBe(200)
  const before = held()
  const readers = Array.from({ length: 12 }, () => {
    const socket = connect({ port, host: '127.0.0.1' })
    socket.write(requestText)
    onTestFinished(() => void socket.destroy())
    return socket
  })
  // Each has got its beginning, and reads no more: as many as there are connections, and more.
  const beginnings = await Promise.all(
    readers.map(
      (socket) =>
        new Promise<string>((resolve) => {
          socket.setEncoding('latin1').once('data', (chunk) => {
            socket.pause()
            resolve(String(chunk))
          })
        }),
    ),
  )
  // What is on its way is read from the database, until the sockets take no more.
  const isIdle = () => {
    const { totalCount, idleCount, waitingCount } = db.$client
    return totalCount === idleCount && waitingCount === 0
  }
  await expect.poll(isIdle).toBe(true)
  expect((held() - before) / mebibyte).toBeLessThan(12 * 8)
  const answer = await service.as(
    company.viewer,
    get(`/v1/workspaces/${company.workspace.slug}/seeds?limit=1`),
  )
  expect(answer.statusCode).toBe(200)
  for (const socket of readers.slice(1)) socket.destroy()
  const [slow] = readers
  if (!slow) throw new Error('there is no reader')
  let text = String(beginnings[0])
  for await (const chunk of slow) text += String(chunk)
  expect(new Set(text.match(/^T\d+(?=,)/gm)).size).toBe(count)
  expect(text.endsWith(lastChunk)).toBe(true)
})

it('ends for somebody who is removed meanwhile', async () => {
  const socket = connect({ port: await listen(service.app), host: '127.0.0.1' })
  onTestFinished(() => void socket.destroy())
  socket.write(requestText)
  let text = await new Promise<string>((resolve) => {
    socket.setEncoding('latin1').once('data', (chunk) => {
      socket.pause()
      resolve(String(chunk))
    })
  })
  const { workspace, viewer } = company
  await db.execute(
    sql`delete from memberships where workspace_id = ${workspace.id} and user_id = ${viewer.id}`,
  )
  for await (const chunk of socket) text += String(chunk)
  expect(text.startsWith('HTTP/1.1 200 OK')).toBe(true)
  expect(text.endsWith(lastChunk)).toBe(false)
  expect(text.match(/^T\d+(?=,)/gm)?.length).toBeLessThan(count)
})
