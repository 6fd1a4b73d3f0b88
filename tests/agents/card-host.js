// A program with MCP Apps, of the official parts: seed-card.browser.test.ts bundles and serves it. It shows the card as a
// web page has to, in a frame of another origin, which loads the card in a frame of its own.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import {
  AppBridge,
  getToolUiResourceUri,
  PostMessageTransport,
  RESOURCE_MIME_TYPE,
} from '@modelcontextprotocol/ext-apps/app-bridge'

const hostInfo = { name: 'a program', version: '1' }
const extension = 'io.modelcontextprotocol/ui'

/** What the card asked of the program, in order. */
const asked = []
/** Set while the person refuses what the card asks for. */
let isRefusing = false

async function connect({ url, token, era }) {
  const client = new Client(hostInfo, {
    capabilities: { extensions: { [extension]: { mimeTypes: [RESOURCE_MIME_TYPE] } } },
    ...(era === '2026-07-28' && { versionNegotiation: { mode: { pin: era } } }),
  })
  const headers = { authorization: `Bearer ${token}` }
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }))
  return client
}

function createBridge(tool, hostContext) {
  const serves = { serverTools: {}, openLinks: {}, updateModelContext: { text: {} } }
  const bridge = new AppBridge(null, hostInfo, serves, {
    hostContext: { toolInfo: { tool }, ...hostContext },
  })
  bridge.onopenlink = async ({ url }) => {
    asked.push(['open', url])
    return {}
  }
  bridge.onupdatemodelcontext = async ({ content }) => {
    asked.push(['context', content])
    return {}
  }
  return bridge
}

/** Calls a tool and shows its card. Returns the text of the answer, and what the card asked for from then on. */
async function openCard({ sandbox, name, args, hostContext, ...server }) {
  const client = await connect(server)
  const { tools } = await client.listTools()
  const tool = tools.find((each) => each.name === name)
  const { contents } = await client.readResource({ uri: getToolUiResourceUri(tool) })
  const [{ text: html, mimeType, _meta: meta }] = contents
  if (mimeType !== RESOURCE_MIME_TYPE) throw new Error(`the card is ${mimeType}`)

  const bridge = createBridge(tool, hostContext)
  bridge.oncalltool = async (params) => {
    asked.push([params.name, params.arguments])
    if (isRefusing) throw new Error('The person refused the call.')
    return client.callTool(params)
  }
  const frame = document.createElement('iframe')
  frame.title = 'Sandbox'
  frame.sandbox = 'allow-scripts allow-same-origin'
  frame.src = `${sandbox}?${new URLSearchParams({ csp: JSON.stringify(meta.ui.csp) })}`
  frame.style = 'border: 0; width: 100%'
  document.body.replaceChildren(frame)
  bridge.onsizechange = ({ height }) => (frame.style.height = `${height}px`)
  bridge.onsandboxready = () => bridge.sendSandboxResourceReady({ html, csp: meta.ui.csp })
  const isInitialized = new Promise((resolve) => (bridge.oninitialized = resolve))
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow))
  await isInitialized

  await bridge.sendToolInput({ arguments: args })
  const result = await client.callTool({ name, arguments: args })
  await bridge.sendToolResult(result)
  globalThis.bridge = bridge
  return result.content[0].text
}

Object.assign(globalThis, { openCard, asked, refuse: (is) => (isRefusing = is) })
