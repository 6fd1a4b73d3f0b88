import { describe, expect, it } from 'vitest'
import { createAppSecret } from '../../src/platform/secrets/app-secret.port.ts'
import { createOperatorTokens } from '../../src/areas/system/operator-tokens.ts'
import { errors } from '../../src/kernel/errors.ts'
import { expectError } from '../support/expect-error.ts'
import { createTestClock } from '../support/test-clock.ts'
import { startTestApp } from '../support/test-app.ts'

const clock = createTestClock()
const secret = 'the secret of the installation, which operators have'
const { app } = await startTestApp({ clock, environment: { APP_SECRET: secret, TRUST_PROXY: '10.0.0.0/8' } })
const tokens = createOperatorTokens(createAppSecret(() => secret))

const ask = (token: string | undefined, from: { remoteAddress?: string; forwarded?: string } = {}) =>
  app.inject({
    url: '/health/client',
    ...(from.remoteAddress !== undefined && { remoteAddress: from.remoteAddress }),
    headers: {
      ...(token !== undefined && { 'x-operator-token': token }),
      ...(from.forwarded !== undefined && { 'x-forwarded-for': from.forwarded }),
    },
  })

describe('the address by which admin check knows the service', () => {
  it('says what the service sees of a request with a token of the secret', async () => {
    const token = tokens.create(clock.now())
    expect((await ask(token, { remoteAddress: '192.0.2.1' })).json()).toEqual({
      address: '192.0.2.1',
      connection: '192.0.2.1',
      forwardedCount: 0,
      isFromUnnamedProxy: false,
    })
    const named = { remoteAddress: '10.0.0.1', forwarded: '203.0.113.7, 198.51.100.4' }
    expect((await ask(token, named)).json()).toEqual({
      address: '198.51.100.4',
      connection: '10.0.0.1',
      forwardedCount: 2,
      isFromUnnamedProxy: false,
    })
    const unnamed = { remoteAddress: '192.0.2.1', forwarded: '203.0.113.7' }
    expect((await ask(token, unnamed)).json()).toMatchObject({
      address: '192.0.2.1',
      isFromUnnamedProxy: true,
    })
  })

  it('is not there for anybody else', async () => {
    const valid = tokens.create(clock.now())
    const [expiresAt = '', signature = ''] = valid.split('.')
    const others = [
      undefined,
      '',
      'nonsense',
      createOperatorTokens(createAppSecret(() => 'another secret of another installation')).create(
        clock.now(),
      ),
      `${Number(expiresAt) + 1}.${signature}`,
      `${expiresAt}.${signature.slice(1)}A`,
      // From a machine whose clock is hours ahead.
      tokens.create(new Date(clock.now().getTime() + 3_600_000)),
      `${valid} ${valid}`,
    ]
    for (const token of others) expectError(await ask(token), errors.routeNotFound)
    clock.advance(61_000)
    expectError(await ask(valid), errors.routeNotFound)
  })
})
