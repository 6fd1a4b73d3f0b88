import { describe, expect, it } from 'vitest'
import { listen } from '../support/raw-http.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'

const start = (trustProxy: string) => startTestApp({ environment: { TRUST_PROXY: trustProxy } })
const ask = async ({ app }: TestApp, headers: Record<string, string>) =>
  fetch(`http://127.0.0.1:${await listen(app)}/health`, { headers })
const warningsOf = ({ log }: TestApp) => log.filter((line) => line.includes('TRUST_PROXY'))

const forwarded = { 'x-forwarded-for': '203.0.113.1' }

describe('X-Forwarded-For', () => {
  it.each(['false', '10.0.0.0/8'])(
    'logs one warning when the sender is not a trusted proxy, with TRUST_PROXY=%s',
    async (trustProxy) => {
      const service = await start(trustProxy)
      await ask(service, {})
      expect(warningsOf(service)).toEqual([])
      await ask(service, forwarded)
      await ask(service, forwarded)
      expect(warningsOf(service)).toHaveLength(1)
      expect(JSON.parse(String(warningsOf(service)[0]))).toMatchObject({ level: 40 })
      expect(service.log.join('')).not.toContain('203.0.113.1')
    },
  )

  it('logs no warning when the sender is a trusted proxy', async () => {
    const service = await start('loopback')
    await ask(service, forwarded)
    expect(warningsOf(service)).toEqual([])
  })
})
