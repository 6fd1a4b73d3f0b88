import { statusOfTag, type ErrorFactory } from '../../kernel/errors.ts'
import type { ApiDescription, Group, Operation, OperationSummary, Parameter } from './api-description.ts'
import { html, type Html } from '../components/html.ts'
import type { ClientPackage } from '../../assets/client-package.ts'
import { renderClientPackage } from './client-package.views.ts'
import type { Field } from './json-schema.ts'
import type { Section } from '../components/layout.ts'
import type { Page } from '../plugins/pages.ts'
import type { RenderedGuide } from './guide-markdown.ts'
import { guides, type Guide } from './guides.ts'

type Catalogue = readonly Pick<ErrorFactory, 'tag' | 'code' | 'message' | 'when'>[]

const titles = { reference: 'API reference', guides: 'Guides', errors: 'Errors' }

function sectionOf(title: string): Section {
  const links = [
    { href: '/docs', label: titles.reference },
    { href: '/docs/guides', label: titles.guides },
    { href: '/docs/errors', label: titles.errors },
    { href: '/openapi.json', label: 'OpenAPI document' },
  ]
  return { name: 'Documentation', links: links.map((link) => ({ ...link, isCurrent: link.label === title })) }
}

type GroupNames = readonly { name: string }[]

/** The path of the page of a group of operations. */
export const pathOfGroup = (name: string) => `/docs/api/${name}`

function sectionOfReference(groups: GroupNames, current?: string): Section {
  const tabs = groups.map(({ name }) => ({
    href: pathOfGroup(name),
    label: titleOfGroup(name),
    isCurrent: name === current,
  }))
  return { ...sectionOf(titles.reference), tabs }
}

/** The first page of the API reference: what holds for all operations, and where each is described. */
export function renderReference(
  { title, version, description, baseUrl, groups }: ApiDescription,
  clientPackage?: ClientPackage,
): Page {
  return {
    title: titles.reference,
    section: sectionOfReference(groups),
    body: html`<h1>${title} ${version}</h1>
      ${renderText(description)}
      <p>Base URL: <code>${baseUrl}</code></p>
      ${clientPackage && renderClientPackage(clientPackage, baseUrl)}
      <div class="field scripted" id="find">
        <label for="find-text">Find an operation</label>
        <input id="find-text" type="search" autocomplete="off" />
        <p class="hint" role="status"></p>
      </div>
      ${groups.map(
        ({ name, description, operations, requests }) =>
          html`<section aria-labelledby="${name}">
            <h2 id="${name}"><a href="${pathOfGroup(name)}">${titleOfGroup(name)}</a></h2>
            ${renderText(description)}
            <ul class="operations">
              ${operations.map((operation) => renderEntry(name, operation, renderPath(operation.path)))}
              ${requests.map((request) => renderEntry(name, request, 'Your URL'))}
            </ul>
          </section>`,
      )}`,
  }
}

/** The entry of an operation. Its id is that of the operation on its page, so that public/docs.js may go there. */
function renderEntry(
  group: string,
  { id, method, summary }: OperationSummary,
  target: Html[] | string,
): Html {
  return html`<li class="operation" id="${id}">
    <a href="${pathOfGroup(group)}#${id}">
      <span class="method ${method.toLowerCase()}">${method}</span>
      <code>${target}</code>
      <span class="hint">${summary}</span>
    </a>
  </li>`
}

/** The page of a group of operations. Errors of the catalogue are links to its page. */
export function renderGroup(
  { name, description, guide, operations, requests }: Group<Operation>,
  { groups, baseUrl, catalogue }: { groups: GroupNames; baseUrl: string; catalogue: Catalogue },
): Page {
  const errorNames = new Set(catalogue.flatMap(({ tag, code }) => [tag, code]))
  return {
    title: titleOfGroup(name),
    section: sectionOfReference(groups, name),
    body: html`<h1>${titleOfGroup(name)}</h1>
      ${renderText(description)} ${guide !== undefined && html`<p><a href="${guide}">Guide</a></p>`}
      ${operations.some((operation) => hasForm(operation) && needsKey(operation)) && renderCredential()}
      <div class="operations">
        ${operations.map((operation) => renderOperation(operation, baseUrl, errorNames))}
      </div>
      ${requests.length > 0 && renderRequests(requests)}`,
  }
}

/** The API key of the forms of a page. */
function renderCredential(): Html {
  return html`<form class="card scripted" id="credential">
    <div class="field">
      <label for="api-key">API key</label>
      <div class="copy">
        <input id="api-key" class="mono" type="password" autocomplete="off" aria-describedby="api-key-hint" />
        <button type="reset" class="small">Forget key</button>
      </div>
      <p class="hint" id="api-key-hint">
        “Try it” sends requests with this key, which is kept until you close this tab. Create keys in
        <a href="/settings/security">your security settings</a>.
      </p>
    </div>
  </form>`
}

/** The name of a group for readers. The ids of operations begin with `name`. */
function titleOfGroup(name: string): string {
  const titles: Record<string, string> = { agentOAuth: 'OAuth of agents', apiKeys: 'API keys' }
  const words = name.replace(/(?=[A-Z])/g, ' ').toLowerCase()
  return titles[name] ?? words.charAt(0).toUpperCase() + words.slice(1)
}

/** The requests that the service sends, and what it makes of the answers. */
function renderRequests(requests: readonly Operation[]): Html {
  return html`<h2>Requests to your URL</h2>
    <div class="requests">
      ${requests.map(
        ({ id, method, summary, description, parameters, body, answers, errors }) =>
          html`<details class="operation" id="${id}">
            <summary>
              <h3>
                <span class="method ${method.toLowerCase()}">${method}</span>
                <span>${summary}</span>
              </h3>
            </summary>
            <div class="stack">
              ${renderText(description)} ${renderFields('Headers', parameters, 'optional')}
              ${
                body &&
                html`${renderFields(html`Body: <code>${body.type}</code>`, body.fields, 'optional')}
                  <pre>${JSON.stringify(body.example, null, 2)}</pre>`
              }
              <h3>Your answer</h3>
              <ul>
                ${[...answers, ...errors].map(
                  (answer) =>
                    html`<li>
                      <strong>${answer.status === 'default' ? 'Anything else' : answer.status}</strong>
                      ${renderInline(answer.description)}
                    </li>`,
                )}
              </ul>
            </div>
          </details>`,
      )}
    </div>`
}

function renderOperation(operation: Operation, baseUrl: string, errorNames: ReadonlySet<string>): Html {
  const { id, method, path, summary, description, credential, parameters, body, isStream, answers, errors } =
    operation
  return html`<details class="operation" id="${id}">
    <summary>
      <h2>
        <span class="method ${method.toLowerCase()}">${method}</span>
        <code>${renderPath(path)}</code>
        <span class="hint">${summary}</span>
      </h2>
    </summary>
    <div class="stack">
      ${renderText(description)}
      <p class="hint">
        <a href="#${id}"><code>${id}</code></a> · Credential: ${credentials[credential]}
      </p>
      ${parameters.length > 0 && renderFields('Parameters', parameters, 'required')}
      ${
        body &&
        renderFields(
          html`Body: <code>${body.type}</code>${!body.isRequired && ', optional'}`,
          body.fields,
          'required',
        )
      }
      ${answers.map(
        ({ status, description: returns, type, headers, fields, example }) =>
          html`${renderFields(
            html`Response ${status}: <code>${type}</code>`,
            fields,
            'optional',
            renderText(returns),
          )}
          ${headers.length > 0 && html`<p class="hint">Headers: ${headers.join(', ')}</p>`}
          ${example !== undefined && html`<pre>${isStream && typeof example === 'string' ? example : JSON.stringify(example, null, 2)}</pre>`}`,
      )}
      <details class="errors">
        <summary>Errors: ${errors.map(({ status }) => status).join(', ')}</summary>
        <ul>
          ${errors.map(
            ({ status, description, names }) =>
              html`<li>
                <strong>${status}</strong> ${renderInline(description)}
                ${names
                  .filter((name) => errorNames.has(name))
                  .map((name) => html` <a href="/docs/errors#${name}"><code>${name}</code></a>`)}
              </li>`,
          )}
        </ul>
      </details>
      <h3>Request</h3>
      <pre data-copy>${makeCommand(operation, baseUrl)}</pre>
      ${renderForm(operation)}
    </div>
  </details>`
}

/** A path that breaks between its segments where there is too little space. */
function renderPath(path: string): Html[] {
  return path.split(/(?=\/)/).map((part) => html`<wbr />${part}`)
}

const credentials = {
  apiKey: 'an API key',
  agentToken: "an agent's access token; API keys are not accepted",
  none: 'none',
}

function renderFields(
  title: Html | string,
  fields: (Field & { in?: string })[],
  marked: 'required' | 'optional',
  note: Html[] = [],
): Html {
  if (fields.length === 0)
    return html`<h3>${title}</h3>
      ${note}`
  return html`<table>
    <caption>
      <h3>${title}</h3>
      ${note}
    </caption>
    <thead>
      <tr>
        <th scope="col">Name</th>
        <th scope="col">Type and description</th>
      </tr>
    </thead>
    <tbody>
      ${fields.map(({ name, in: place, type, isRequired, description }) => {
        const isMarked = isRequired === (marked === 'required')
        return html`<tr>
          <th scope="row">${renderName(name)}</th>
          <td>
            <code>${type}</code>${place && ` in ${place}`}${isMarked && html`, <strong>${marked}</strong>`}
            ${renderText(description)}
          </td>
        </tr>`
      })}
    </tbody>
  </table>`
}

/** The request as a curl command for a POSIX shell. */
function makeCommand(
  { method, path, parameters, credential, body, isStream }: Operation,
  baseUrl: string,
): string {
  const quote = (text: string) => `'${text.replaceAll(`'`, `'\\''`)}'`
  const toWord = (name: string) => name.replace(/(?=[A-Z])/g, '_').toUpperCase()
  const query = parameters
    .filter((parameter) => parameter.in === 'query' && parameter.isRequired)
    .map(
      ({ name, example, values: [value = example ?? toWord(name)] }) =>
        `${name}=${encodeURIComponent(value)}`,
    )
  const target = [path.replace(/{([^{}]+)}/g, (_, name: string) => toWord(name)), query.join('&')]
    .filter(Boolean)
    .join('?')
  const data: Record<string, () => string> = {
    'application/json': () =>
      `-H 'Content-Type: application/json' -d ${quote(JSON.stringify(body?.example))}`,
    'multipart/form-data': () => '-F file=@picture.png',
    'application/x-www-form-urlencoded': () =>
      `-d ${quote(new URLSearchParams(body?.example as Record<string, string>).toString())}`,
  }
  return [
    method === (body ? 'POST' : 'GET') ? 'curl' : `curl -X ${method}`,
    // Otherwise curl would collect the events.
    isStream && '-N',
    credential === 'apiKey' && '-H "Authorization: Bearer $API_KEY"',
    credential === 'agentToken' && '-H "Authorization: Bearer $ACCESS_TOKEN"',
    body && data[body.type]?.(),
    quote(baseUrl + target),
  ]
    .filter(Boolean)
    .join(' ')
}

/** Whether it can be tried out: not by those who are no agents, and no stream, which does not end. */
function hasForm({ credential, body, isStream }: Operation): boolean {
  return !isStream && credential !== 'agentToken' && body?.type !== 'application/x-www-form-urlencoded'
}

function needsKey({ credential }: Operation): boolean {
  return credential === 'apiKey'
}

/** The form that public/docs.js sends. */
function renderForm(operation: Operation): Html | false {
  const { id, method, path, parameters, body } = operation
  if (!hasForm(operation)) return false
  return html`<details class="try scripted">
    <summary>Try it</summary>
    <form
      class="stack"
      data-method="${method}"
      data-path="${path}"
      ${needsKey(operation) && html`data-needs-key`}
    >
      ${parameters.map((parameter) => renderInput(`${id}-${parameter.in}-${parameter.name}`, parameter))}
      ${body && renderBodyInput(`${id}-body`, body)}
      <button>Send request</button>
      <p role="status"></p>
      <pre tabindex="0" role="group" aria-label="Response" hidden></pre>
    </form>
  </details>`
}

function renderInput(id: string, { name, in: place, isRequired, values }: Parameter): Html {
  const attributes = html`id="${id}" name="${name}" data-in="${place}" ${isRequired && html`required`}`
  const options = [...(isRequired ? [] : ['']), ...values].map((value) => html`<option>${value}</option>`)
  return html`<div class="field">
    <label for="${id}">${name} <span class="hint">${place}${!isRequired && ', optional'}</span></label>
    ${
      values.length > 0
        ? html`<select ${attributes}>
            ${options}
          </select>`
        : html`<input ${attributes} class="mono" autocomplete="off" spellcheck="false" />`
    }
  </div>`
}

function renderBodyInput(id: string, { type, fields, example }: NonNullable<Operation['body']>): Html {
  const text = JSON.stringify(example, null, 2)
  const name = fields[0]?.name ?? 'file'
  return html`<div class="field">
    ${
      type === 'multipart/form-data'
        ? html`<label for="${id}">${name} <span class="hint">file</span></label>
            <input id="${id}" name="${name}" type="file" data-in="file" required />`
        : html`<label for="${id}">Body <span class="hint">JSON</span></label>
            <textarea id="${id}" data-in="body" rows="${text.split('\n').length + 1}" spellcheck="false">
${text}</textarea>`
    }
  </div>`
}

/** The index of the guides. */
export function renderGuideIndex(): Page {
  return {
    title: titles.guides,
    section: sectionOf(titles.guides),
    body: html`<h1>${titles.guides}</h1>
      <p>
        For those who write programs and agents that use this service. The
        <a href="/docs">API reference</a> describes each operation.
      </p>
      <dl class="guides">
        ${guides.map(
          ({ name, title, summary }) =>
            html`<dt><a href="/docs/guides/${name}">${title}</a></dt>
              <dd>${summary}</dd>`,
        )}
      </dl>`,
  }
}

/** The page of a guide, with links to the others. */
export function renderGuidePage(guide: Guide, { body, sections }: RenderedGuide): Page {
  const link = ({ name, title }: Guide) => ({
    href: `/docs/guides/${name}`,
    label: title,
    isCurrent: name === guide.name,
  })
  const place = guides.indexOf(guide)
  const [previous, next] = [guides[place - 1], guides[place + 1]]
  const contents = html`<details class="contents">
    <summary>On this page</summary>
    <ul>
      ${sections.map(({ id, title }) => html`<li><a href="#${id}">${renderName(title)}</a></li>`)}
    </ul>
  </details>`
  return {
    title: guide.title,
    section: { ...sectionOf(titles.guides), tabs: guides.map(link) },
    body: html`${sections.length > 2 && contents}
      <article class="markdown guide">${body}</article>
      <nav class="around" aria-label="Previous and next">
        ${previous && html`<a href="/docs/guides/${previous.name}" rel="prev">← ${previous.title}</a>`}
        ${next && html`<a href="/docs/guides/${next.name}" rel="next">${next.title} →</a>`}
      </nav>`,
  }
}

/** The error catalogue, by status. */
export function renderErrorCatalogue(catalogue: Catalogue): Page {
  const tags = [...new Set(catalogue.map(({ tag }) => tag))].sort((a, b) => statusOfTag[a] - statusOfTag[b])
  const listErrors = (tag: string) =>
    catalogue.filter((entry) => entry.tag === tag).sort((a, b) => a.code.localeCompare(b.code))
  return {
    title: titles.errors,
    section: sectionOf(titles.errors),
    body: html`<h1>Errors</h1>
      <p>
        Every error is a JSON object with <code>_tag</code> (the name of its schema, which determines the
        status), <code>code</code> (for programs; never changes), <code>message</code> (for people; may
        change) and <code>requestId</code>. <code>InvalidInput</code> also has a <code>field</code>,
        <code>HttpApiDecodeError</code> a list of <code>issues</code>.
      </p>
      ${tags.map(
        (tag) =>
          html`<section aria-labelledby="${tag}">
            <h2 id="${tag}">${statusOfTag[tag]} <code>${tag}</code></h2>
            <table>
              <thead>
                <tr>
                  <th scope="col">Code</th>
                  <th scope="col">Meaning and message</th>
                </tr>
              </thead>
              <tbody>
                ${listErrors(tag).map(
                  ({ code, message, when }) =>
                    html`<tr id="${code}">
                      <th scope="row">${renderName(code)}</th>
                      <td>
                        ${renderText(when)}
                        <p class="hint">“${message}”</p>
                      </td>
                    </tr>`,
                )}
              </tbody>
            </table>
          </section>`,
      )}`,
  }
}

/** A name that breaks between its words where there is too little space. */
function renderName(name: string): Html {
  return html`<code>${name.split(/(?<=_)|(?=[A-Z])/).map((word) => html`<wbr />${word}`)}</code>`
}

/** Renders the Markdown of descriptions, which use only paragraphs and code. */
function renderText(text: string): Html[] {
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => html`<p>${renderInline(line)}</p>`)
}

function renderInline(text: string): Html[] {
  return text.split('`').map((part, i) => {
    if (i % 2 === 0) return html`${part}`
    const code = html`<code>${part}</code>`
    return part.startsWith('/docs/') ? html`<a href="${part}">${code}</a>` : code
  })
}
