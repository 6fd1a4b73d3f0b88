import { randomBytes } from 'node:crypto'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { LightMyRequestResponse } from 'fastify'
import * as oauth from 'oauth4webapi'
import type { Choice } from '../../src/agents/oauth/consents.ts'
import type { Principal } from '../../src/domain/principal.ts'
import type { TestApp, TestPerson } from './test-app.ts'

/** An agent that knows the service's URL, and what it has got so far. */
export interface TestAgent {
  clientId: string
  redirectUri: string
  verifier: string
}

export interface Tokens {
  access_token: string
  refresh_token: string
  token_type: string
  expires_in: number
  scope: string
}

/** A person with a workspace to give access to. */
export interface TestHost extends TestPerson {
  workspaceId: string
  slug: string
  principal: Principal
}

/** Plays agents and the people who let them in, step by step, so that any step can be made wrong. */
export function createOAuthTester({
  app,
  config,
  services,
  createPerson,
}: Pick<TestApp, 'app' | 'config' | 'services' | 'createPerson'>) {
  const form = { 'content-type': 'application/x-www-form-urlencoded' }

  async function createHost(): Promise<TestHost> {
    const person = await createPerson()
    const user = await services.accounts.findByEmail(person.email)
    if (!user) throw new Error('the person is not there')
    const principal: Principal = { user, source: 'web', apiKeyId: null, sessionId: null, grantId: null }
    const slug = `w-${randomBytes(6).toString('hex')}`
    const { id } = await services.workspaces.create(principal, { name: 'Acme', slug })
    return { ...person, workspaceId: id, slug, principal }
  }

  const register = (metadata: object, remoteAddress = '127.0.0.1') =>
    app.inject({ method: 'POST', url: '/agent/oauth/register', payload: metadata, remoteAddress })

  async function createAgent(metadata: object = {}): Promise<TestAgent> {
    const redirectUri = 'https://agent.example/callback'
    // Each from an address of its own: the files of a worker share the app, and with it the limit of an address.
    const address = `127.${randomBytes(3).join('.')}`
    const answer = await register(
      { redirect_uris: [redirectUri], client_name: 'Robbie', ...metadata },
      address,
    )
    const { client_id: clientId, redirect_uris: uris } = answer.json<{
      client_id: string
      redirect_uris: string[]
    }>()
    return { clientId, redirectUri: uris[0] ?? redirectUri, verifier: oauth.generateRandomCodeVerifier() }
  }

  /** The path that the agent opens in the person's browser. */
  async function getAuthorizationUrl(agent: TestAgent, parameters: Record<string, string | undefined> = {}) {
    const all: Record<string, string | undefined> = {
      response_type: 'code',
      client_id: agent.clientId,
      redirect_uri: agent.redirectUri,
      code_challenge: await oauth.calculatePKCECodeChallenge(agent.verifier),
      code_challenge_method: 'S256',
      state: 'some state',
      ...parameters,
    }
    const known = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined)
    const query = new URLSearchParams(known).toString()
    return `/agent/oauth/authorize?${query}`
  }

  const authorize = async (agent: TestAgent, parameters: Record<string, string | undefined> = {}) =>
    app.inject({ url: await getAuthorizationUrl(agent, parameters) })

  /** The browser's request for the consent page, as the OAuth server reads it. */
  function toExchange(authorization: LightMyRequestResponse) {
    const request = new IncomingMessage(new Socket())
    request.headers = { cookie: cookiesOf(authorization), host: new URL(config.webUrl).host }
    return { request, response: new ServerResponse(request) }
  }

  const resume = (authorization: LightMyRequestResponse, url: string) =>
    app.inject({ url: url.slice(config.webUrl.length), headers: { cookie: cookiesOf(authorization) } })

  /** Has a host allow a pending authorization; answers with the redirect to the agent. */
  async function allow(
    authorization: LightMyRequestResponse,
    host: TestHost,
    choice: Partial<Omit<Choice, 'workspaceId'>> = {},
  ) {
    const { principal, workspaceId } = host
    const whole: Choice = { scopes: [], days: 180, ...choice, workspaceId }
    const to = await services.agentOAuth.allow(toExchange(authorization), principal, whole)
    return resume(authorization, to)
  }

  async function deny(authorization: LightMyRequestResponse) {
    return resume(authorization, await services.agentOAuth.deny(toExchange(authorization)))
  }

  async function getCode(
    agent: TestAgent,
    host: TestHost,
    choice?: Parameters<typeof allow>[2],
  ): Promise<string> {
    return codeOf(await allow(await authorize(agent), host, choice))
  }

  const requestToken = (parameters: Record<string, string>) =>
    app.inject({
      method: 'POST',
      url: '/agent/oauth/token',
      headers: form,
      payload: new URLSearchParams(parameters).toString(),
    })

  const exchange = (agent: TestAgent, code: string, parameters: Record<string, string> = {}) =>
    requestToken({
      grant_type: 'authorization_code',
      code,
      code_verifier: agent.verifier,
      redirect_uri: agent.redirectUri,
      client_id: agent.clientId,
      ...parameters,
    })

  const refresh = (agent: TestAgent, refreshToken: string, parameters: Record<string, string> = {}) =>
    requestToken({
      grant_type: 'refresh_token',
      refresh_token: refreshToken,
      client_id: agent.clientId,
      ...parameters,
    })

  async function getTokens(
    agent: TestAgent,
    host: TestHost,
    choice?: Parameters<typeof allow>[2],
  ): Promise<Tokens> {
    return (await exchange(agent, await getCode(agent, host, choice))).json<Tokens>()
  }

  /** Lets an agent act for a member of a workspace; answers with its access token. */
  async function letIn(
    workspace: { id: string; slug: string },
    person: TestPerson,
    choice?: Parameters<typeof allow>[2],
  ): Promise<string> {
    const user = await services.accounts.findByEmail(person.email)
    if (!user) throw new Error('the person is not there')
    const principal: Principal = { user, source: 'web', apiKeyId: null, sessionId: null, grantId: null }
    const host = { ...person, workspaceId: workspace.id, slug: workspace.slug, principal }
    return (await getTokens(await createAgent(), host, choice)).access_token
  }

  const readKit = (accessToken: string) =>
    app.inject({
      method: 'POST',
      url: '/agent/v1/validation-kit:read',
      headers: { authorization: `Bearer ${accessToken}` },
    })

  return {
    allow,
    authorize,
    createAgent,
    createHost,
    deny,
    exchange,
    getAuthorizationUrl,
    getCode,
    getTokens,
    letIn,
    readKit,
    refresh,
    register,
    requestToken,
    toExchange,
  }
}

/** The code in a redirect to an agent. */
export function codeOf(answer: LightMyRequestResponse): string {
  const code = new URL(String(answer.headers.location)).searchParams.get('code')
  if (code === null) throw new Error(`there is no code in ${answer.headers.location}`)
  return code
}

/** What a redirect to an agent says. */
export function redirectOf(answer: LightMyRequestResponse): Record<string, string> {
  return Object.fromEntries(new URL(String(answer.headers.location)).searchParams)
}

function cookiesOf(answer: LightMyRequestResponse): string {
  return [answer.headers['set-cookie'] ?? []]
    .flat()
    .map((cookie) => cookie.split(';')[0])
    .join('; ')
}
