import { createHmac, timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { createWebhookSecret, signWebhook } from '../../src/areas/webhooks/webhook-signatures.ts'

describe('the signature of a webhook', () => {
  // The example of the libraries of Standard Webhooks.
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  const content = {
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    at: new Date(1_614_265_330_000),
    body: '{"test": 2432232314}',
  }
  const signature = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='

  it('is that of Standard Webhooks', () => {
    expect(signWebhook(content, [secret])).toEqual({
      'webhook-id': content.id,
      'webhook-timestamp': '1614265330',
      'webhook-signature': signature,
    })
  })

  it('is made by each secret, separated by spaces', () => {
    const other = createWebhookSecret()
    const [first, second, ...rest] = signWebhook(content, [other, secret])['webhook-signature'].split(' ')
    expect(first).toBe(signWebhook(content, [other])['webhook-signature'])
    expect(second).toBe(signature)
    expect(rest).toEqual([])
  })
})

it('is verified by the lines of docs/webhooks.md', () => {
  const document = readFileSync(new URL('../../docs/webhooks.md', import.meta.url), 'utf8')
  const [, lines = ''] = /```js\n(const key = [^]*?)```/.exec(document) ?? []
  const secret = createWebhookSecret()
  const rawBody = '{}'
  const verify = (at: Date, signature?: string) => {
    const headers = signWebhook({ id: 'msg_x', at, body: rawBody }, [secret])
    const given = signature ?? headers['webhook-signature']
    const context = { createHmac, timingSafeEqual, Buffer, secret, headers, rawBody, signature: given }
    return runInNewContext(`${lines}; isValid`, context) as unknown
  }
  expect(verify(new Date())).toBe(true)
  expect(verify(new Date(), `v1,${Buffer.alloc(32).toString('base64')}`)).toBe(false)
  // A signature of another length is no error of the receiver.
  for (const signature of ['v1,AA==', 'v1,', '']) expect(verify(new Date(), signature)).toBe(false)
  for (const minutes of [-6, 6]) expect(verify(new Date(Date.now() + minutes * 60_000))).toBe(false)
})

describe('a new secret', () => {
  it('has 32 random bytes', () => {
    const secrets = [createWebhookSecret(), createWebhookSecret()]
    for (const secret of secrets) {
      expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
      expect(Buffer.from(secret.slice(6), 'base64')).toHaveLength(32)
    }
    expect(secrets[0]).not.toBe(secrets[1])
  })
})
