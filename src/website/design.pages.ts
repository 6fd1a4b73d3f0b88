import type { App } from '../http/app-types.ts'
import { errors } from '../kernel/errors.ts'
import { roles } from '../domain/roles.ts'
import { seedStatuses, verdicts } from '../domain/seeds.ts'
import { verdictNames } from './seeds/thread/evidence-balance.ts'
import { renderAlert, renderCheckbox, renderField, renderRadios, renderSelect } from './components/forms.ts'
import { html, type Html } from './components/html.ts'
import { renderFace } from './components/layout.ts'
import { renderConfirmed, renderRows } from './components/lists.ts'
import { renderNotices } from './components/pager.ts'
import { renderRole, renderRoleOptions } from './views/roles.views.ts'
import { renderSearchForm } from './views/search-form.views.ts'
import { renderStatus } from './seeds/seed-status.views.ts'

const longName = 'Wolfeschlegelsteinhausenbergerdorff '.repeat(3).trim()
const names = ['Grace Hopper', longName, 'عمر الخيام', '👩🏽‍💻 אדה']

/** A page with each component of public/site.css in its states, for development. */
export function designPages(app: App): void {
  app.get('/design', async (_request, reply) =>
    reply.showPage({
      title: 'Design',
      section: {
        name: 'Design',
        links: components.map(({ name }, i) => ({
          href: `#${idOf(name)}`,
          label: name,
          isCurrent: i === 0,
        })),
      },
      body: html`<h1>Design</h1>
        ${components.map(
          ({ name, body }) =>
            html`<section aria-labelledby="${idOf(name)}">
              <h2 id="${idOf(name)}">${name}</h2>
              ${body}
            </section>`,
        )}`,
    }),
  )
}

function idOf(name: string): string {
  return name.toLowerCase()
}

const components: readonly { name: string; body: Html }[] = [
  {
    name: 'Buttons',
    body: html`<div class="choices">
        <button>Primary</button> <button class="quiet">Quiet</button> <button class="danger">Danger</button>
        <button class="small">Small</button> <button disabled>Disabled</button>
        <button class="link">Link</button>
        <a class="button" href="#buttons">A link</a>
      </div>
      <nav class="segments" aria-label="Segments">
        <a href="#buttons" aria-current="true">List</a><a href="#buttons">Board</a>
      </nav>`,
  },
  {
    name: 'Menus',
    body: html`<div class="choices">
      <details class="menu start" name="menu">
        <summary>Menu</summary>
        <nav class="panel" aria-label="Example">
          <a href="#menus" aria-current="true"><span class="truncate">${longName}</span></a>
          <a href="#menus">An entry</a>
          <hr />
          <form><button type="button">An action</button></form>
        </nav>
      </details>
      <nav class="tabs" aria-label="Tabs">
        <a href="#menus" aria-current="page">Current</a><a href="#menus">Other</a>
      </nav>
    </div>`,
  },
  {
    name: 'Fields',
    body: html`<form class="stack">
      ${renderField({ name: 'plain', label: 'Name', hint: 'What it is for.', value: 'Ada' })}
      ${renderField({ name: 'optional', label: 'Source', type: 'url', isOptional: true })}
      ${renderField({ name: 'summary', label: 'Summary', rows: 3, isOptional: true })}
      ${renderField({ name: 'file', label: 'Photo', type: 'file', isOptional: true })}
      ${renderField({
        name: 'wrong',
        label: 'Address',
        value: 'settings',
        state: { values: {}, error: errors.slugReserved({ field: 'wrong' }) },
      })}
      ${renderSelect({
        name: 'choice',
        label: 'Sort by',
        value: 'b',
        choices: [
          { value: 'a', label: 'Last change' },
          { value: 'b', label: 'Newest' },
        ],
      })}
      ${renderRadios({
        name: 'verdict',
        legend: 'Verdict',
        value: 'neutral',
        choices: verdicts.map((value) => ({ value, label: verdictNames[value] })),
      })}
      ${renderRoleOptions({ actor: 'owner', current: 'member' })}
      ${renderCheckbox({ name: 'check', label: 'Product updates', isChecked: true })}
    </form>`,
  },
  {
    name: 'Toolbar',
    body: html`<div class="tools">
      ${renderSearchForm({ path: '/design', label: 'Search the components', value: '' })}
      <a class="button" href="#toolbar">New</a>
    </div>`,
  },
  {
    name: 'Rows',
    body: renderRows(
      names.map(
        (name, i) =>
          html`<div class="row">
            ${renderFace({ id: `0${i}`, name, image: null }, 40)}
            <div class="grow">
              <a class="title" href="#rows"><bdi>${name}</bdi></a> <span class="hint">name@example.com</span>
            </div>
            ${renderRole('member')} <a class="button small" href="#rows">Manage</a>
          </div>`,
      ),
      null,
    ),
  },
  {
    name: 'Tags',
    body: html`<p class="choices">
      ${roles.map(renderRole)} ${seedStatuses.map(renderStatus)}
      ${verdicts.map((verdict) => html`<span class="tag verdict-${verdict}">${verdictNames[verdict]}</span>`)}
      <span class="tag agent">Agent</span> <span class="tag invited">Invited</span>
      <span class="tag warn">Expired</span> <span class="tag">This device</span>
    </p>`,
  },
  {
    name: 'Notices',
    body: html`${renderNotices(['Saved.'])}
      <p class="notice warn">Claude lost its access to this workspace.</p>
      ${renderAlert('Something is wrong with the form.')}
      <div class="empty">
        <p><strong>A seed is an early idea that you want to test before you build it.</strong></p>
        <p>None is in progress.</p>
        <p><a class="button" href="#notices">New seed</a></p>
      </div>`,
  },
  {
    name: 'Cards',
    body: html`<div class="columns">
      <section class="card">
        <h3>First steps</h3>
        <ol class="checklist">
          <li class="done"><span aria-hidden="true">✓</span>Create a seed</li>
          <li><span aria-hidden="true">○</span><a href="#cards">Connect an agent</a></li>
        </ol>
      </section>
      <section class="card">
        <h3>Confirmation</h3>
        ${renderConfirmed({
          label: 'Remove',
          description: 'Grace Hopper',
          question: 'Grace Hopper loses access immediately.',
          action: html`<button class="danger">Remove Grace Hopper</button>`,
        })}
        <p class="copy"><code data-copy>npm start</code></p>
      </section>
    </div>`,
  },
]
