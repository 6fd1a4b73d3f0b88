import { html, type Html } from '../components/html.ts'

/** A program that agents run in, and how it is connected. */
interface Program {
  name: string
  steps: Html
}

/** How to connect an agent: the URL of the MCP server, and the steps for each program. */
export function renderConnectAgent(mcpUrl: string): Html {
  return html`<section aria-labelledby="connect">
    <h2 id="connect">Connect an agent</h2>
    <p>Give the agent this URL. It opens a page here on which you choose what it may do.</p>
    <p class="copy">
      <label class="visually-hidden" for="mcp-url">MCP server URL</label>
      <input id="mcp-url" class="mono" readonly value="${mcpUrl}" data-copy />
    </p>
    <div>
      ${programs(mcpUrl).map(
        ({ name, steps }) =>
          html`<details class="steps">
            <summary>${name}</summary>
            ${steps}
          </details>`,
      )}
    </div>
  </section>`
}

function programs(mcpUrl: string): Program[] {
  return [
    {
      name: 'Claude',
      steps: html`<ol>
          <li>Open <a href="https://claude.ai/settings/connectors">Settings, Connectors</a> in Claude.</li>
          <li>Choose “Add custom connector”, paste the URL and choose “Add”.</li>
          <li>Choose “Connect”.</li>
        </ol>
        <p>In Claude Code, run this command, then <code>/mcp</code>:</p>
        ${renderCommand(`claude mcp add --transport http workspace ${mcpUrl}`)}`,
    },
    {
      name: 'ChatGPT',
      steps: html`<ol>
        <li>Open Settings, Apps &amp; Connectors in ChatGPT, and turn on developer mode under Advanced.</li>
        <li>Choose “Create”, paste the URL as the MCP server URL, and choose OAuth.</li>
        <li>For deep research, also allow reading the people and the activity, which it searches.</li>
      </ol>`,
    },
    {
      name: 'VS Code',
      steps: html`<p><a class="button" href="${vsCodeLink(mcpUrl)}">Install in VS Code</a></p>
        <p>Or run this command:</p>
        ${renderCommand(
          `code --add-mcp '${JSON.stringify({ name: 'workspace', type: 'http', url: mcpUrl })}'`,
        )}`,
    },
    {
      name: 'Cursor',
      steps: html`<p><a class="button" href="${cursorLink(mcpUrl)}">Install in Cursor</a></p>
        <p>Or add this to <code>~/.cursor/mcp.json</code>:</p>
        ${renderCommand(JSON.stringify({ mcpServers: { workspace: { url: mcpUrl } } }))}`,
    },
  ]
}

function renderCommand(command: string): Html {
  return html`<p class="copy"><code data-copy>${command}</code></p>`
}

function vsCodeLink(url: string): string {
  const config = JSON.stringify({ type: 'http', url })
  return `https://insiders.vscode.dev/redirect/mcp/install?${new URLSearchParams({ name: 'workspace', config }).toString()}`
}

function cursorLink(url: string): string {
  const config = Buffer.from(JSON.stringify({ url })).toString('base64')
  return `cursor://anysphere.cursor-deeplink/mcp/install?${new URLSearchParams({ name: 'workspace', config }).toString()}`
}
