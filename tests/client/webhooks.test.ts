import { createHmac, randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { verifyWebhook, WebhookError } from '../../packages/client/src/webhooks.ts'

const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`
const body = JSON.stringify({ type: 'webhook.test', timestamp: '2026-11-21T03:04:05.678Z', data: {} })

/** A signed request, as Standard Webhooks 1.0 describes it. */
function sign(secret: string, { text = body, at = Date.now(), others = '' } = {}) {
  const id = 'msg_2KWPBgLlAfxdpx2AI54pPJ85f4W'
  const timestamp = String(Math.floor(at / 1000))
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${text}`).digest('base64')
  return {
    body: text,
    headers: {
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': `${others}v1,${signature}`,
    },
  }
}

describe('verifyWebhook', () => {
  it('returns the message of a signed request, from a text or from bytes, with headers of any kind', async () => {
    const secret = newSecret()
    const request = sign(secret)
    const message = JSON.parse(body) as unknown
    expect(await verifyWebhook(request, secret)).toEqual(message)
    expect(await verifyWebhook({ ...request, body: Buffer.from(body) }, secret)).toEqual(message)
    expect(await verifyWebhook({ ...request, headers: new Headers(request.headers) }, secret)).toEqual(
      message,
    )
  })

  it('finds headers in any case, and takes the first of several values', async () => {
    const secret = newSecret()
    const { headers, body } = sign(secret)
    const names = Object.entries(headers)
    const capital = (name: string) => name.replace(/\b[a-z]/g, (letter) => letter.toUpperCase())
    for (const others of [
      Object.fromEntries(names.map(([name, value]) => [capital(name), value])),
      Object.fromEntries(names.map(([name, value]) => [name, [value, 'another']])),
      Object.fromEntries(
        names.flatMap(([name, value]) => [[name, undefined] as const, [capital(name), [value]]]),
      ),
    ])
      expect(await verifyWebhook({ headers: others, body }, secret)).toMatchObject({ type: 'webhook.test' })
  })

  it('throws another error when a secret is missing, before it looks at the request', async () => {
    for (const secrets of [process.env.NO_SUCH_VARIABLE, '', [newSecret(), undefined], []]) {
      const checked = verifyWebhook({ headers: {}, body }, secrets)
      await expect(checked).rejects.toThrow(TypeError)
      await expect(checked).rejects.toThrow(/^a secret is missing: /)
    }
  })

  it('agrees with the example of the specification', async () => {
    // The vector of the libraries of Standard Webhooks. Its time has passed, so only the signature is compared.
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
    const signature = createHmac('sha256', key)
      .update('msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330.{"test": 2432232314}')
      .digest('base64')
    expect(signature).toBe('g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
  })

  it('accepts a request that is signed by one of several secrets, with one of several signatures', async () => {
    const [old, current] = [newSecret(), newSecret()]
    expect(await verifyWebhook(sign(current), [old, current])).toMatchObject({ type: 'webhook.test' })
    const others = 'v1a,abc v1,AAAA v1, '
    expect(await verifyWebhook(sign(old, { others }), old)).toMatchObject({ type: 'webhook.test' })
  })

  it('refuses another secret, another body, another time, and what is missing', async () => {
    const secret = newSecret()
    const request = sign(secret)
    const without = (name: string) => ({ ...request, headers: { ...request.headers, [name]: undefined } })
    const minutes = 60_000
    for (const [bad, by] of [
      [request, newSecret()],
      [request, 'whsec_'],
      [{ ...request, body: `${body} ` }, secret],
      [sign(secret, { at: Date.now() - 6 * minutes }), secret],
      [sign(secret, { at: Date.now() + 6 * minutes }), secret],
      [{ ...request, headers: { ...request.headers, 'webhook-timestamp': 'now' } }, secret],
      [{ ...request, headers: { ...request.headers, 'webhook-signature': 'v1,' } }, secret],
      [without('webhook-id'), secret],
      [without('webhook-timestamp'), secret],
      [without('webhook-signature'), secret],
    ] as const)
      await expect(verifyWebhook(bad, by)).rejects.toThrow(WebhookError)
  })
})
