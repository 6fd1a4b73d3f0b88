import { randomUUID } from 'node:crypto'
import type { McpDocument } from './mcp-resources.ts'

// The card of a seed: an MCP App (SEP-1865, stable text of 2026-01-26). Programs that declare the extension show it beside the
// answers of tools with `hasCard`.

const uiExtension = 'io.modelcontextprotocol/ui'
const mimeType = 'text/html;profile=mcp-app'

/** The page, of its stylesheet and its script in public/. It loads nothing, whatever the program around it allows. */
export function seedCard({ style, script }: { style: string; script: string }): McpDocument {
  const nothing = { connectDomains: [], resourceDomains: [], frameDomains: [], baseUriDomains: [] }
  const policy =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
  return {
    uri: 'ui://seed-card',
    name: 'seed-card',
    title: 'Seed',
    description:
      'A seed with its status, its balance and its newest evidence, and what a tool changed in it.',
    mimeType,
    meta: { ui: { csp: nothing, prefersBorder: true } },
    isLinked: true,
    text: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>Seed</title>
<style>
${style}</style>
</head>
<body>
<main aria-busy="true"><p>Reading the seed.</p></main>
<script type="module">
${script}</script>
</body>
</html>
`,
  }
}

/**
 * Whether a client shows cards. In the latest revision each request says what its client can do. Before, only `initialize`
 * does, and no process remembers it: the id of a session brings it along (docs/design/tools.md#cards).
 */
export function showsCards(headers: Headers, message: unknown): boolean {
  if (headers.get(sessionHeader)?.startsWith(sessionPrefix) === true) return true
  const { method, params } = (message ?? {}) as { method?: unknown; params?: Params | null }
  const { capabilities, _meta: meta } = params ?? {}
  const declared = method === 'initialize' ? capabilities : meta?.[capabilitiesKey]
  const types = declared?.extensions?.[uiExtension]?.mimeTypes
  return Array.isArray(types) && types.includes(mimeType)
}

interface Params {
  capabilities?: Capabilities
  _meta?: Record<string, Capabilities | undefined>
}

interface Capabilities {
  extensions?: Record<string, { mimeTypes?: unknown } | undefined>
}

const capabilitiesKey = 'io.modelcontextprotocol/clientCapabilities'
const sessionHeader = 'mcp-session-id'
const sessionPrefix = 'cards-'

/** Whether a message begins a conversation of the earlier revisions. */
export function isInitialize(message: unknown): boolean {
  return (message as { method?: unknown } | null | undefined)?.method === 'initialize'
}

/** The header by which the later requests of a conversation say that its client shows cards. It identifies nothing. */
export function cardSession(): [name: string, value: string] {
  return [sessionHeader, `${sessionPrefix}${randomUUID()}`]
}
