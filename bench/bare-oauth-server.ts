import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { Adapter, AdapterPayload } from 'oidc-provider'
import pino from 'pino'
import { createAnswers } from '../src/agents/oauth/answers.ts'
import { recordBounds } from '../src/agents/oauth/records/record-bounds.repository.ts'
import { agentScope, clientAuthMethods, grantTypes, paths } from '../src/agents/oauth/protocol.ts'
import { createProvider } from '../src/agents/oauth/provider.ts'
import type { Jwk } from '../src/agents/oauth/keys/signing-keys.ts'
import { openDatabase, workLimits } from '../src/db/client.ts'
import { systemClock } from '../src/kernel/clock.ts'
import { noMeter } from '../src/kernel/meter.ts'
import { createAppSecret } from '../src/platform/secrets/app-secret.port.ts'
import { chains, type Chain } from './chains.ts'

// The provider of the service, with its own configuration, on an adapter that keeps the records in memory. `GET /chains`
// gives refresh tokens to begin with.
const port = Number(process.env.PORT)
const baseUrl = `http://127.0.0.1:${port}`
const appSecret = createAppSecret(() => 'a secret of this server alone, of 32 characters')
// Never connected: the adapters below replace the one that uses it.
const db = openDatabase({
  url: String(process.env.DATABASE_URL),
  poolMax: 1,
  limits: workLimits,
  onIdleError: () => undefined,
})
const notExpected = () => Promise.reject(new Error('not expected'))
const provider = createProvider({
  db,
  jobs: { enqueue: notExpected },
  clock: systemClock,
  log: pino({ level: 'silent' }),
  meter: noMeter,
  keys: createSigningKeys(),
  appSecret,
  baseUrl,
  webUrl: baseUrl,
  accessTokenLifetimeSeconds: 3600,
  refreshGraceSeconds: 1800,
  refreshLimitPerHour: 0,
  recordBounds,
  answers: createAnswers({ db, clock: systemClock, appSecret }),
  showFailure: () => undefined,
  findOrigin: () => undefined,
  findRequestId: () => undefined,
  noteAccepted: () => undefined,
  noteRefused: () => undefined,
  areDocumentsOn: false,
  assertingProviders: [],
  whileWaiting: (wait) => wait(),
  documents: { fetchMetadata: notExpected, fetchKeys: notExpected },
})
const adapters = {
  Client: createMemoryAdapter(),
  Grant: createMemoryAdapter(),
  RefreshToken: createMemoryAdapter(),
}
for (const [name, adapter] of Object.entries(adapters)) {
  const model = provider[name as keyof typeof adapters]
  for (const owner of [model, model.prototype as object])
    Object.defineProperty(owner, 'adapter', { value: adapter })
}
const begun = await Promise.all(Array.from({ length: chains }, begin))
const answer = provider.callback()

createServer((request, response) => {
  if (request.url === '/chains') response.end(JSON.stringify(begun))
  else void answer(request, response)
}).listen(port, '127.0.0.1')

/** Creates a client and a grant, as after consent. */
async function begin(): Promise<Chain> {
  const clientId = randomUUID()
  await adapters.Client.upsert(
    clientId,
    {
      client_id: clientId,
      application_type: 'native',
      redirect_uris: ['https://agent.example/callback'],
      token_endpoint_auth_method: clientAuthMethods[0],
      grant_types: [...grantTypes],
      response_types: ['code'],
    },
    0,
  )
  const client = await provider.Client.find(clientId)
  if (!client) throw new Error('the client is not there')
  const accountId = randomUUID()
  const resource = `${baseUrl}${paths.mcp}`
  const grant = new provider.Grant({ accountId, clientId })
  grant.addResourceScope(resource, agentScope)
  grant.addOIDCScope(agentScope)
  // Of the length of our ids, which refresh tokens contain.
  grant.jti = randomUUID()
  const grantId = await grant.save()
  const refreshToken = new provider.RefreshToken({
    accountId,
    client,
    grantId,
    resource,
    scope: agentScope,
    gty: 'authorization_code',
    expiresWithSession: false,
  })
  return { clientId, refreshToken: await refreshToken.save() }
}

function createMemoryAdapter(): Adapter {
  const records = new Map<string, AdapterPayload>()
  const nothing = () => Promise.resolve(undefined)
  return {
    upsert: async (id, payload) => void records.set(id, payload),
    find: async (id) => records.get(id),
    consume: async (id) => {
      Object.assign(records.get(id) ?? {}, { consumed: Math.floor(Date.now() / 1000) })
    },
    destroy: async (id) => void records.delete(id),
    findByUid: nothing,
    findByUserCode: nothing,
    revokeByGrantId: nothing,
  }
}

function createSigningKeys() {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const toJwk = (key: typeof privateKey): Jwk => ({
    ...key.export({ format: 'jwk' }),
    kid: 'bench',
    alg: 'ES256',
    use: 'sig',
  })
  return { signing: toJwk(privateKey), verifying: [toJwk(publicKey)] }
}
