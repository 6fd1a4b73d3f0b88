import { expect, it } from 'vitest'
import { FetchFailure } from '../../src/kernel/fetch-failure.ts'
import { checkInstallation } from '../../src/services/check-installation.ts'
import { createOAuthTester } from '../support/oauth-client.ts'
import { createPublished } from '../support/published.ts'
import { clone, startTestApp } from '../support/test-app.ts'

const { publish, untrustedFetch } = createPublished()
// Nothing listens on this port.
const environment = { DATABASE_URL: await clone(), BASE_URL: 'http://127.0.0.1:9' }
const service = await startTestApp({ environment, untrustedFetch })
const tester = createOAuthTester(service)

it('admin check tries each host of kept documents, and no other', async () => {
  const tried: string[] = []
  const check = async (config = service.config) => {
    tried.length = 0
    const findings = await checkInstallation(() => config, {
      fetch: (input) => {
        const { url } = new Request(input)
        tried.push(url)
        if (url.includes('chatgpt.com')) return Promise.reject(new FetchFailure('the status is 403'))
        return Promise.resolve(Response.json({}))
      },
    })
    return findings.filter(({ check: name }) => name === 'agents')
  }
  expect(await check()).toEqual([])
  const host = await tester.createHost()
  for (const url of [
    'https://claude.ai/oauth/one',
    'https://claude.ai/oauth/two',
    'https://chatgpt.com/oauth/client.json',
  ])
    await tester.getTokens(publish({}, url), host)
  await tester.authorize(publish({}, 'https://stranger.example/client.json'))
  expect(await check()).toEqual([
    {
      check: 'agents',
      ok: false,
      message: expect.stringMatching(/^chatgpt[.]com cannot be reached: the status is 403[.] /) as string,
    },
    { check: 'agents', ok: true, message: 'claude.ai answers with what agents have published there.' },
  ])
  expect(tried.map((url) => new URL(url).host).toSorted()).toEqual(['chatgpt.com', 'claude.ai'])
  expect(await check({ ...service.config, areDocumentsOn: false })).toEqual([])
  expect(tried).toEqual([])
})

it('documents are fetched through OUTGOING_PROXY, which is not asked for addresses of the network', async () => {
  const { app, log } = await startTestApp({
    environment: { ...environment, OUTGOING_PROXY: 'http://127.0.0.1:9' },
  })
  const id = encodeURIComponent('https://localhost/client.json')
  await app.inject(
    `/agent/oauth/authorize?response_type=code&client_id=${id}&redirect_uri=http://127.0.0.1/callback`,
  )
  expect(log.join('')).toMatch(/"host":"localhost","reason":"the address \S+ is not allowed"/)
})
