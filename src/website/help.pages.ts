import type { App } from '../http/app-types.ts'
import { attachmentsMax } from '../domain/attachments.ts'
import { roles } from '../domain/roles.ts'
import { seedStatuses } from '../domain/seeds.ts'
import { html, type Html } from './components/html.ts'
import { fileSizeMax } from './seeds/thread/attachments.views.ts'
import { renderStatus } from './seeds/seed-status.views.ts'
import { howSeedsGo, whatIsJoining, whatIsLead, whatIsSeed, whatIsStatus } from './seeds/seed-words.ts'
import { roleDescriptions, roleNames } from './views/roles.views.ts'

const path = '/help'

/** What the words of the website mean, and how to do what is not seen on its pages. For everybody. */
export function helpPages(app: App): void {
  app.get(path, async (_request, reply) => reply.showPage({ title: 'Help', body: renderHelp() }))
}

function renderHelp(): Html {
  return html`<div class="narrow stack">
    <h1>Help</h1>
    <section class="stack">
      <h2>Seeds</h2>
      <p>${whatIsSeed} ${howSeedsGo}</p>
      <dl>
        ${seedStatuses.map(
          (status) =>
            html`<dt>${renderStatus(status)}</dt>
              <dd>${whatIsStatus[status]}</dd>`,
        )}
      </dl>
      <dl>
        <dt>Join</dt>
        <dd>${whatIsJoining} Adding evidence joins by itself.</dd>
        <dt>Lead</dt>
        <dd>${whatIsLead} It is one of those who joined, at first who created the seed.</dd>
        <dt>Follow</dt>
        <dd>Followers are notified as those who joined are, and take no part.</dd>
        <dt>Evidence</dt>
        <dd>
          What somebody found out, and whether it supports the seed, contradicts it or is neutral. Its author
          can correct it for a while. Later it can be withdrawn, with a reason that stays.
        </dd>
      </dl>
    </section>
    <section class="stack">
      <h2>Writing</h2>
      <dl>
        <dt>@</dt>
        <dd>Type @ and a name to mention somebody in a comment. They are notified.</dd>
        <dt>Markdown</dt>
        <dd>
          <code>**bold**</code>, <code>*italic*</code>, <code>\`code\`</code>, <code>[link](https://…)</code>,
          <code>- list</code>, <code>&gt; quote</code>, and tables.
        </dd>
        <dt>Files</dt>
        <dd>
          Choose, paste or drop them in the form of a seed, of evidence or of a comment: images (PNG, JPEG,
          WebP, GIF), PDF, CSV, text, audio and video, up to ${attachmentsMax} of ${fileSizeMax} each. Members
          of the workspace see them.
        </dd>
        <dt><kbd>Ctrl</kbd> + <kbd>Enter</kbd></dt>
        <dd>Sends what you write; on a Mac ⌘ and Enter.</dd>
        <dt>Drafts</dt>
        <dd>What you have begun stays in this browser, encrypted, for a week or until you sign out.</dd>
      </dl>
    </section>
    <section class="stack">
      <h2>Finding</h2>
      <dl>
        <dt><kbd>Ctrl</kbd> + <kbd>K</kbd></dt>
        <dd>
          Opens the search, which also leads to pages, saved filters and actions, such as “New seed”; on a Mac
          ⌘ and K.
        </dd>
        <dt>Saved filters</dt>
        <dd>
          Filter the seeds, and choose “Save these filters”. They are above the list then, for you alone or
          for everybody in the workspace.
        </dd>
      </dl>
    </section>
    <section class="stack">
      <h2 id="keys">Keys</h2>
      <dl>
        <dt><kbd>c</kbd></dt>
        <dd>A new seed, on each page of a workspace; on the page of a seed, new evidence.</dd>
        <dt><kbd>?</kbd></dt>
        <dd>This help.</dd>
      </dl>
      <p class="check scripted">
        <input type="checkbox" id="has-keys" checked /><label for="has-keys"
          >Use these keys in this browser</label
        >
      </p>
    </section>
    <section class="stack">
      <h2>Roles</h2>
      <dl>
        ${roles.toReversed().map(
          (role) =>
            html`<dt>${roleNames[role]}</dt>
              <dd>${roleDescriptions[role]}</dd>`,
        )}
      </dl>
    </section>
    <section class="stack">
      <h2>Agents</h2>
      <p>
        An agent is a program, such as an assistant, that acts for you after you allowed it. What it does is
        marked with <span class="tag agent">Agent</span> and your name. The page “Agents” of a workspace says
        how to connect one, and takes its access away.
      </p>
    </section>
    <p>Programs use the <a href="/docs">API</a>.</p>
  </div>`
}
