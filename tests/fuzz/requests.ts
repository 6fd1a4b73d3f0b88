import type { InjectOptions } from 'fastify'
import { canary, encode, encodedTexts, rawBodies, texts, values, type Random } from './hostile.ts'

/** A route of the service, as far as a request to it can be made up. */
export interface Route {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  url: string
  /** Who may call it. */
  access: string
  /** A body that it takes, as in the API description. */
  body: Record<string, unknown> | undefined
  isUpload: boolean
}

/** A browser's cookies, and the token of its forms. */
export interface BrowserSession {
  cookie: string
  csrf: string
}

/** What is there and who can reach it. */
export interface World {
  /** Real values for parts of paths, queries and bodies, by their names. */
  known: ReadonlyMap<string, readonly string[]>
  apiKeys: readonly string[]
  accessToken: string
  /** Browsers, one of somebody who is signed in and one of nobody. */
  browsers: readonly BrowserSession[]
}

const formFields = [
  'name',
  'email',
  'password',
  'currentPassword',
  'slug',
  'allowedDomains',
  'role',
  'next',
  'decision',
  'workspaceId',
  'userId',
  'productUpdates',
  'workspaceActivity',
  'revokeAccess',
  'file',
]
const oauthFields = [
  'client_id',
  'client_secret',
  'redirect_uri',
  'response_type',
  'scope',
  'state',
  'resource',
  'code',
  'code_verifier',
  'code_challenge',
  'code_challenge_method',
  'grant_type',
  'refresh_token',
  'token',
  'token_type_hint',
  'prompt',
  'response_mode',
  'request',
  'nonce',
]
const queryFields = [
  'limit',
  'cursor',
  'q',
  'done',
  'next',
  'slug',
  'status',
  'state',
  'type',
  'iss',
  'code',
  'error',
]
const headerNames = [
  'accept',
  'accept-language',
  'idempotency-key',
  'x-forwarded-for',
  'x-forwarded-proto',
  'origin',
  'referer',
  'user-agent',
  'if-none-match',
  'range',
  'sec-fetch-site',
  'mcp-protocol-version',
  'mcp-session-id',
  'x-api-key',
]

type Place = 'credential' | 'path' | 'query' | 'header' | 'body' | 'everywhere'

// What is wrong with the credential, or in all places at once, is mostly refused before the rest is looked at.
const others: readonly Place[] = ['credential', 'header', 'everywhere']
const placesOfReads: readonly Place[] = [...others, 'path', 'path', 'path', 'query', 'query', 'query']
const placesOfChanges: readonly Place[] = [...others, 'path', 'path', 'query', 'body', 'body', 'body', 'body']

/** Makes up a request that is right but for one place, or for several. */
export function makeRequest(random: Random, route: Route, world: World): InjectOptions {
  const place = random.pick(route.method === 'GET' ? placesOfReads : placesOfChanges)
  const browser = random.pick(world.browsers)
  const isHostile = (candidate: Place) => place === candidate || place === 'everywhere'
  const fields = route.url.startsWith('/agent/oauth') ? oauthFields : formFields
  const names = route.url.startsWith('/agent/oauth') ? oauthFields : queryFields
  const headers: Record<string, string> = {
    accept: route.access === 'web' ? 'text/html' : 'application/json, text/event-stream',
    ...(isHostile('credential') ? wrongCredentialOf(random) : credentialOf(random, route, world, browser)),
    ...(isHostile('header') && { [random.pick(headerNames)]: latin1(random.pick(texts)) }),
  }
  const request = {
    method: route.method,
    url:
      makePath(random, route, world, isHostile('path')) +
      (isHostile('query') ? makeQuery(random, names, world) : ''),
    headers,
  }
  if (route.method === 'GET') return request
  const context = { random, route, world, browser }
  const { payload, type } = isHostile('body') ? makeBody(context, fields) : makeGoodBody(context, fields)
  return { ...request, payload, headers: { ...headers, 'content-type': type } }
}

function credentialOf(
  random: Random,
  { access }: Route,
  world: World,
  browser: BrowserSession,
): Record<string, string> {
  if (access === 'apiKey') return { authorization: `Bearer ${random.pick(world.apiKeys)}` }
  if (access === 'agent') return { authorization: `Bearer ${world.accessToken}` }
  return { cookie: browser.cookie }
}

function wrongCredentialOf(random: Random): Record<string, string> {
  const text = latin1(random.pick(texts))
  return random.pick([
    { authorization: `Bearer ${text}` },
    { 'x-api-key': text },
    { cookie: `session=${text}; a="` },
    {},
  ])
}

function makePath(random: Random, { url }: Route, world: World, isHostile: boolean): string {
  const isParameter = (part: string) => /^:\w/.test(part) || part === '*'
  // Mostly one of them: what is right before it leads there.
  const chosen = random.below(url.split('/').filter(isParameter).length || 1)
  let place = 0
  const parts = url.split('/').map((part) => {
    // A colon that is one is written twice.
    if (!isParameter(part)) return part.replace('::', ':')
    if (isHostile && (place++ === chosen || random.chance(0.2)))
      return random.chance(0.5) ? random.pick(encodedTexts) : encode(random.pick(texts))
    return encode(random.pick(world.known.get(part.slice(1)) ?? ['x']))
  })
  return parts.join('/') + (isHostile && random.chance(0.1) ? `/${random.pick(encodedTexts)}` : '')
}

function makeQuery(random: Random, names: readonly string[], world: World): string {
  const parts = Array.from({ length: 1 + random.below(8) }, () => {
    const name = random.chance(0.1) ? encode(random.pick(texts)) : random.pick(names)
    const known = world.known.get(name)
    if (known && random.chance(0.7)) return `${name}=${encode(random.pick(known))}`
    return `${name}=${random.chance(0.4) ? random.pick(encodedTexts) : encode(random.pick(texts))}`
  })
  return `?${parts.join('&')}`
}

interface Context {
  random: Random
  route: Route
  world: World
  browser: BrowserSession
}

function makeGoodBody({ random, route, world, browser }: Context, fields: readonly string[]) {
  if (route.isUpload) return { type: formType, payload: makeForm(browser, 'file', 'me.png', 'no picture') }
  if (route.body) return { type: 'application/json', payload: JSON.stringify(route.body) }
  if (route.access !== 'web' && fields === formFields) return { type: 'application/json', payload: '{}' }
  const parts = fields.map((name) => `${name}=${encode(random.pick(world.known.get(name) ?? ['']))}`)
  return {
    type: 'application/x-www-form-urlencoded',
    payload: `${parts.join('&')}&_csrf=${browser.csrf}`,
  }
}

function makeBody({ random, route, world, browser }: Context, fields: readonly string[]) {
  if (random.chance(0.1)) {
    const types = ['application/json', 'application/x-www-form-urlencoded', formType, canary]
    return { type: random.pick(types), payload: random.pick(rawBodies) }
  }
  if (route.isUpload) {
    const name = latin1(random.pick(texts)).replaceAll('"', '')
    const payload = makeForm(browser, random.chance(0.5) ? 'file' : name, name, random.pick(texts))
    return { type: formType, payload: random.chance(0.9) ? payload : payload.slice(0, -5) }
  }
  if (route.body)
    return { type: 'application/json', payload: JSON.stringify(mutate(random, route.body, world)) }
  const parts = Array.from({ length: 1 + random.below(12) }, () => {
    const name = random.chance(0.1) ? random.pick(texts) : random.pick(fields)
    const known = world.known.get(name)
    const isKnown = known !== undefined && random.chance(0.6)
    return `${encode(name)}=${isKnown ? encode(random.pick(known)) : encode(random.pick(texts))}`
  })
  return {
    type: 'application/x-www-form-urlencoded',
    payload: `_csrf=${browser.csrf}&${parts.join('&')}`,
  }
}

const formType = 'multipart/form-data; boundary=x'

function makeForm({ csrf }: BrowserSession, name: string, fileName: string, content: string): string {
  const part = (field: string, value: string, file = '') =>
    `--x\r\ncontent-disposition: form-data; name="${field}"${file}\r\n\r\n${value}\r\n`
  return `${part('_csrf', csrf)}${part(name, content, `; filename="${fileName}"`)}--x--\r\n`
}

/** Right but for what PostgreSQL takes in no text. */
const unstorable = ['Nul\0', 'Half \ud83d'] as const

/** Changes a few places of a body, at any depth. */
function mutate(random: Random, body: unknown, world: World): unknown {
  const copy = structuredClone(body)
  if (typeof copy !== 'object' || copy === null) return random.pick(values)
  const target = copy as Record<string, unknown>
  for (let i = random.below(3); i >= 0; i--) {
    const name = random.pick([...Object.keys(target), 'id'])
    const value = target[name]
    const known = world.known.get(name)
    const kind = random.below(10)
    if (kind === 0) Reflect.deleteProperty(target, name)
    else if (kind === 1) target[random.pick(texts)] = random.pick(values)
    else if (typeof value === 'object' && value !== null && random.chance(0.5))
      target[name] = mutate(random, value, world)
    else if (known && random.chance(0.3)) target[name] = random.pick(known)
    else if (random.chance(0.7)) target[name] = random.pick(random.chance(0.3) ? unstorable : texts)
    else target[name] = random.pick(values)
  }
  return copy
}

/** What can stand in a header: Node sends one octet for each character. */
const latin1 = (text: string) =>
  Buffer.from(text.slice(0, 4_000))
    .toString('latin1')
    .replaceAll(/[\0\r\n]/g, ' ')
