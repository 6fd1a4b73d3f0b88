import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { expect, it } from 'vitest'
import { streamEventsDefaults } from '../../src/http/answers/stream-events.ts'
import { createCompany, post } from '../support/company.ts'
import { openEventStream, type ReceivedStream } from '../support/event-stream-client.ts'
import { eventually } from '../support/eventually.ts'
import { createOAuthTester } from '../support/oauth-client.ts'
import { listen } from '../support/raw-http.ts'
import { startTestApp } from '../support/test-app.ts'

it('one person has 100 streams over all keys and agents, and takes none of other people', async () => {
  const service = await startTestApp({ eventStreams: streamEventsDefaults })
  const company = await createCompany(service)
  const { member, owner, url } = company
  const open = (apiKey: string) =>
    openEventStream(service, `${url}/events/stream?after=now`, { authorization: `Bearer ${apiKey}` })
  const openUntilRefused = async (apiKey: string) => {
    const streams: ReceivedStream[] = []
    for (;;) {
      const stream = await open(apiKey)
      if (stream.status === 429) return streams
      expect(stream.status).toBe(200)
      streams.push(stream)
    }
  }
  const createKey = async () =>
    (await service.as(member, post('/v1/api-keys', { name: 'Another' }))).json<{ secret: string }>().secret

  const token = await createOAuthTester(service).letIn(company.workspace, member)
  const client = new Client(
    { name: 'a listener', version: '1' },
    { versionNegotiation: { mode: { pin: '2026-07-28' } } },
  )
  const endpoint = new URL(`http://127.0.0.1:${await listen(service.app)}/agent/mcp`)
  const requestInit = { headers: { authorization: `Bearer ${token}` } }
  await client.connect(new StreamableHTTPClientTransport(endpoint, { requestInit }))
  const subscription = await client.listen({ toolsListChanged: true })

  const [first, second] = [await createKey(), await createKey()]
  const [some, rest] = [await openUntilRefused(first), await openUntilRefused(second)]
  expect([some.length, rest.length]).toEqual([50, 49])
  expect((await open(await createKey())).status).toBe(429)
  await expect(client.listen({ toolsListChanged: true })).rejects.toThrow('Subscription limit reached')
  expect((await open(owner.apiKey)).status).toBe(200)

  // A stream of either kind that ends leaves room for one of the other.
  await subscription.close()
  await eventually(async () => expect((await open(await createKey())).status).toBe(200))
  some[0]?.disconnect()
  await eventually(async () => (await client.listen({ toolsListChanged: true })).close())
  await client.close()
  service.app.server.closeAllConnections()
})
