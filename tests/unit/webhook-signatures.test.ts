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
