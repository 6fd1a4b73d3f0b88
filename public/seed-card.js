// The card of a seed: the page that programs with MCP Apps (SEP-1865) show beside the answer of a tool. It speaks JSON-RPC with
// the program around it by messages, reaches no network, and shows what people wrote as text, never as HTML.

const evidenceMax = 5
const seedsMax = 10
const statuses = ['open', 'validating', 'validated', 'dropped']
const reasonLengthMax = 300
const main = document.querySelector('main')

/** Requests to the program that are not answered yet, by their ids. */
const waiting = new Map()
let lastId = 0
/** What the program can do, and how it looks. */
let capabilities = {}
let context = {}
/** The arguments of the call that the card is about. */
let input = {}

addEventListener('message', ({ source, data }) => {
  if (source !== parent || data?.jsonrpc !== '2.0') return
  if (data.method === undefined) settle(data)
  else if (data.id === undefined) receive(data.method, data.params ?? {})
  else answer(data)
})

begin()

async function begin() {
  const started = await request('ui/initialize', {
    protocolVersion: '2026-01-26',
    appInfo: { name: 'seed-card', version: '1.0.0' },
    appCapabilities: { availableDisplayModes: ['inline'] },
  })
  capabilities = started.hostCapabilities ?? {}
  useContext(started.hostContext ?? {})
  send({ method: 'ui/notifications/initialized', params: {} })
  new ResizeObserver(tellSize).observe(document.documentElement)
}

function send(message) {
  // Which origin the program has is not known, and nothing in a message is secret from it.
  parent.postMessage({ jsonrpc: '2.0', ...message }, '*')
}

function request(method, params) {
  const id = (lastId += 1)
  send({ id, method, params })
  return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }))
}

function settle({ id, result, error }) {
  const { resolve, reject } = waiting.get(id) ?? {}
  waiting.delete(id)
  if (error) reject?.(new Error(String(error.message)))
  else resolve?.(result ?? {})
}

function answer({ id, method }) {
  if (method === 'ping' || method === 'ui/resource-teardown') send({ id, result: {} })
  else send({ id, error: { code: -32601, message: 'The card has no such method.' } })
}

function receive(method, params) {
  if (method === 'ui/notifications/tool-input') input = params.arguments ?? {}
  if (method === 'ui/notifications/tool-result') void showResult(params)
  if (method === 'ui/notifications/tool-cancelled') show(element('p', {}, 'The call was cancelled.'))
  if (method === 'ui/notifications/host-context-changed') useContext(params)
}

/** Takes over the colors and the font of the program. */
function useContext(changes) {
  context = { ...context, ...changes }
  const { style } = document.documentElement
  if (context.theme === 'light' || context.theme === 'dark') style.colorScheme = context.theme
  for (const [name, value] of Object.entries(context.styles?.variables ?? {}))
    if (name.startsWith('--') && typeof value === 'string') style.setProperty(name, value)
}

let toldHeight = 0

function tellSize() {
  const height = Math.ceil(document.documentElement.getBoundingClientRect().height)
  if (height === toldHeight) return
  toldHeight = height
  send({ method: 'ui/notifications/size-changed', params: { width: Math.ceil(innerWidth), height } })
}

// What is shown.

async function showResult(result) {
  const content = contentOf(result)
  if (result.isError || !content) return show(failure(textOf(result)))
  if (content.seeds) return showKit(content)
  const seedId = input.seedId ?? content.seed?.id ?? content.id
  const done = element('p', { class: 'done', role: 'status' }, describeChange(content.changed))
  show(done, link('Open the seed', content.url))
  if (typeof seedId === 'string') await showSeedOf(seedId, done)
}

/** Reads a seed through the program, with the access of the agent, and shows it below what was done. */
async function showSeedOf(seedId, ...before) {
  if (!capabilities.serverTools) return
  try {
    const args = { seedId, evidenceLimit: evidenceMax }
    const result = await request('tools/call', { name: 'read_validation_kit', arguments: args })
    const kit = contentOf(result)
    const [seed] = kit?.seeds ?? []
    if (seed) show(...before, ...describeSeed(seed, kit.grant))
  } catch {
    // What was done and the link stay.
  }
}

function showKit(kit) {
  const [seed] = kit.seeds
  // A call with an id is about one seed, also if the workspace has no other.
  if (seed && (input.seedId || (kit.totals.seeds === 1 && kit.seeds.length === 1)))
    show(...describeSeed(seed, kit.grant))
  else showSeeds(kit)
}

function showSeeds(kit) {
  const { columns = [], rows = [] } = kit.summaries ?? {}
  const summaries = rows.map((row) => Object.fromEntries(columns.map((column, i) => [column, row[i]])))
  const all = [...kit.seeds, ...kit.outline, ...summaries]
  const heading = element(
    'h1',
    { tabindex: '-1' },
    `${kit.totals.seeds} ${kit.totals.seeds === 1 ? 'seed' : 'seeds'}`,
  )
  const items = all.slice(0, seedsMax).map((seed) => {
    const title = element('bdi', {}, seed.title)
    const back = () => showSeeds(kit)
    const open = () => showSeedOf(seed.id, button('All seeds', back)).then(() => focusHeading())
    const named = capabilities.serverTools ? button(title, open) : element('p', {}, title)
    return element(
      'li',
      {},
      named,
      element('p', { class: 'faint' }, status(seed), ` ${describeCounts(seed)}`),
    )
  })
  const left = kit.totals.seeds - items.length
  show(
    heading,
    items.length > 0 && element('ul', { class: 'seeds' }, ...items),
    left > 0 && element('p', { class: 'faint' }, `${left} more are not shown.`),
  )
  if (document.hasFocus()) focusHeading()
}

function describeSeed(seed, grant) {
  const shown = seed.evidence.slice(0, evidenceMax)
  const { supports, contradicts, neutral } = seed.evidenceCounts
  const left = supports + contradicts + neutral - shown.length
  return [
    element('h1', { dir: 'auto', tabindex: '-1' }, seed.title),
    element('p', { class: 'faint' }, status(seed)),
    section('Balance', element('p', {}, describeCounts(seed)), bar(seed.evidenceCounts)),
    seed.hypothesis && section('Hypothesis', paragraph(seed.hypothesis)),
    seed.criteria.length > 0 &&
      section(
        'Success criteria',
        element(
          'ul',
          { class: 'criteria' },
          ...seed.criteria.map(({ text, state }) =>
            element('li', { dir: 'auto' }, state === 'open' ? text : `${text} (${state})`),
          ),
        ),
      ),
    section(
      'Evidence',
      shown.length === 0
        ? element('p', {}, 'Nobody has added evidence.')
        : element('ul', { class: 'evidence' }, ...shown.map(describeEvidence)),
      left > 0 && element('p', { class: 'faint' }, `${left} more are not shown.`),
    ),
    maySetStatus(grant) && statusSection(seed),
    link('Open the seed', seed.url),
  ]
}

/** As the service decides, which refuses others too. */
function maySetStatus({ scopes, role }) {
  return Boolean(capabilities.serverTools) && scopes.includes('seeds:write') && role !== 'viewer'
}

/** Lets the person choose a status. Nothing changes before they confirm what is then said in words. */
function statusSection(seed) {
  const others = statuses.filter((each) => each !== seed.status).map((each) => element('option', {}, each))
  const select = element('select', {}, ...others)
  const choose = button('Change the status', () => {
    made.replaceChildren(...confirmation(seed, select.value, cancel))
    made.querySelector('input').focus()
  })
  const made = section('Status', element('label', {}, 'New status ', select), choose)
  const cancel = () => {
    const again = statusSection(seed)
    made.replaceWith(again)
    again.querySelector('button').focus()
  }
  return made
}

function confirmation(seed, to, cancel) {
  const question = element('p', {}, 'Set the status of “', bdi(seed.title), `” from ${seed.status} to ${to}?`)
  const reason = element('input', { type: 'text', maxlength: reasonLengthMax, dir: 'auto' })
  const fault = element('div', {})
  const set = button(`Set to ${to}`, async () => {
    set.disabled = true
    const statusReason = reason.value.trim()
    const args = { seedId: seed.id, status: to, ...(statusReason && { statusReason }) }
    const refused = await setStatus(args)
    if (refused === undefined) return
    fault.replaceChildren(failure(refused))
    set.disabled = false
  })
  set.className = 'act'
  return [
    element('h2', {}, 'Confirm'),
    question,
    element('label', {}, 'Reason (optional) ', reason),
    fault,
    set,
    button('Cancel', cancel),
  ]
}

/** Sets a status through the program, with the access of the agent. Returns why not, if it was refused. */
async function setStatus(args) {
  const result = await request('tools/call', { name: 'update_seed', arguments: args }).catch(failedCall)
  if (result.isError) return textOf(result)
  const done = `The status was set to ${args.status}.`
  if (capabilities.updateModelContext) {
    const text = `On the card, the person set the status of the seed ${args.seedId} to ${args.status}.`
    request('ui/update-model-context', { content: [{ type: 'text', text }] }).catch(() => undefined)
  }
  const said = element('p', { class: 'done', role: 'status', tabindex: '-1' }, done)
  show(said)
  await showSeedOf(args.seedId, said)
  said.focus()
  return undefined
}

function failedCall(error) {
  return { isError: true, content: [{ type: 'text', text: error.message }] }
}

function describeEvidence({ verdict, kind, summary, authorName, agentName, createdAt, sourceUrl }) {
  const author = agentName ? [bdi(agentName), ' for ', bdi(authorName)] : [bdi(authorName)]
  const date = element('time', { datetime: createdAt }, String(createdAt).slice(0, 10))
  return element(
    'li',
    {},
    element(
      'p',
      { class: 'faint' },
      element('span', { class: `verdict ${verdict}` }, verdict),
      ` · ${kind} · `,
      ...author,
      ' · ',
      date,
    ),
    paragraph(summary),
    sourceUrl && link('Open the source', sourceUrl, hostOf(sourceUrl)),
  )
}

/** As the website says it. */
function describeCounts(seed) {
  const counts = seed.evidenceCounts ?? seed
  const say = (verdict) => `${counts[verdict]} ${counts[verdict] === 1 ? verdict : verdict.slice(0, -1)} it`
  return `${say('supports')}, ${say('contradicts')}, ${counts.neutral} neutral`
}

/** Decorative: the numbers stand beside it. */
function bar(counts) {
  const parts = ['supports', 'neutral', 'contradicts'].filter((verdict) => counts[verdict] > 0)
  if (parts.length === 0) return undefined
  const spans = parts.map((verdict) => {
    const part = element('span', { class: verdict })
    part.style.flexGrow = counts[verdict]
    return part
  })
  return element('div', { class: 'bar', 'aria-hidden': 'true' }, ...spans)
}

function describeChange(changed) {
  const fields = { leadUserId: 'lead', statusReason: 'reason', successCriteria: 'success criteria' }
  const { name } = context.toolInfo?.tool ?? {}
  if (name === 'create_seed') return 'The seed was created.'
  if (name === 'add_evidence') return 'Evidence was added.'
  if (name !== 'update_seed' || !changed?.length)
    return `Done${changed?.length ? `: ${changed.join(', ')}` : ''}.`
  return `Changed: ${changed.map((field) => fields[field] ?? field).join(', ')}.`
}

function status(seed) {
  return element('span', { class: 'status' }, seed.status)
}

function failure(text) {
  return element('p', { class: 'failed text', role: 'alert', dir: 'auto' }, text || 'The call failed.')
}

function section(title, ...children) {
  return element('section', {}, element('h2', {}, title), ...children)
}

function paragraph(text) {
  return element('p', { class: 'text cut', dir: 'auto' }, text)
}

function bdi(text) {
  return element('bdi', {}, text)
}

/** A page of the website or a source, which the program opens after asking its person. No element where it opens none. */
function link(text, url, detail) {
  if (!capabilities.openLinks || !/^https?:\/\//i.test(url)) return undefined
  const label = detail ? [`${text}: `, bdi(detail)] : [text]
  return button(label, () => request('ui/open-link', { url }).catch(() => undefined))
}

function button(label, act) {
  const made = element('button', { type: 'button' }, ...[label].flat())
  made.addEventListener('click', () => void act())
  return made
}

function hostOf(url) {
  try {
    return new URL(url).host
  } catch {
    return ''
  }
}

function contentOf({ structuredContent, content = [] }) {
  if (structuredContent) return structuredContent
  try {
    return JSON.parse(textOf({ content }))
  } catch {
    return undefined
  }
}

function textOf({ content = [] }) {
  return content
    .filter(({ type }) => type === 'text')
    .map(({ text }) => text)
    .join('\n')
}

function show(...children) {
  main.replaceChildren(...children.filter(Boolean))
  main.removeAttribute('aria-busy')
}

function focusHeading() {
  main.querySelector('h1')?.focus()
}

/** Children that are text become text nodes. */
function element(name, attributes, ...children) {
  const made = document.createElement(name)
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value)
  made.append(...children.filter(Boolean))
  return made
}
