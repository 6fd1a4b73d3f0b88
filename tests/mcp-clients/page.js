// A page of another origin that connects as an agent in the browser: tests/mcp-clients/run.ts bundles and serves it.
import { auth, Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client'

const { searchParams } = new URL(location.href)
const serverUrl = searchParams.get('server') ?? localStorage.getItem('server')
localStorage.setItem('server', serverUrl)

const redirectUrl = `${location.origin}/`
const read = (name) => JSON.parse(localStorage.getItem(name) ?? 'null') ?? undefined
const write = (name) => (value) => localStorage.setItem(name, JSON.stringify(value))

const authProvider = {
  redirectUrl,
  clientMetadata: { client_name: 'A page', redirect_uris: [redirectUrl] },
  clientInformation: () => read('client'),
  saveClientInformation: write('client'),
  tokens: () => read('tokens'),
  saveTokens: write('tokens'),
  codeVerifier: () => read('verifier'),
  saveCodeVerifier: write('verifier'),
  redirectToAuthorization: (url) => location.assign(url),
}

async function run() {
  const authorizationCode = searchParams.get('code')
  if (authorizationCode !== null)
    await auth(authProvider, { serverUrl, authorizationCode, iss: searchParams.get('iss') })
  const client = new Client({ name: 'page', version: '1' }, { versionNegotiation: { mode: 'auto' } })
  await client.connect(new StreamableHTTPClientTransport(new URL(serverUrl), { authProvider }))
  const { structuredContent } = await client.callTool({ name: 'read_validation_kit', arguments: {} })
  document.title = `Read ${structuredContent.workspace.slug}`
}

run().catch((error) => {
  if (!(error instanceof UnauthorizedError)) document.title = `Failed: ${String(error)}`
})
