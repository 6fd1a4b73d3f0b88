import { parseJson } from '../../kernel/json-text.ts'
import type { Services } from '../../services/services.ts'
import { html, type Html } from '../components/html.ts'
import { withQuery } from '../components/lists.ts'
import type { Page } from '../plugins/pages.ts'
import { readSearch, renderSearchForm } from '../views/search-form.views.ts'
import { statusNames } from '../seeds/seeds.views.ts'
import { sectionOf, type WorkspacePages, type WorkspaceVisit } from '../plugins/workspace-visit.ts'

const seedsMax = 8
const peopleMax = 6
const workspacesMax = 6

/** Something that the search found. public/palette.js reads it. */
interface Result {
  label: string
  /** What tells it from others with the same label; empty for pages. */
  detail: string
  href: string
}

interface ResultGroup {
  name: string
  results: Result[]
}

type SearchServices = Pick<Services, 'people' | 'seeds' | 'workspaces'>

/** The search of a workspace: a page, and the same results as JSON for the command palette. */
export function searchPages({ page, data }: WorkspacePages, services: SearchServices): void {
  page('/search', async (visit) => {
    const q = readSearch(visit.request)
    return renderSearch(visit, q, q === '' ? [] : await findResults(visit, q, services))
  })

  data('/search/results', async (visit) => ({
    groups: await findResults(visit, readSearch(visit.request), services),
  }))
}

/** The seeds, people, pages and workspaces that match a text; without a text, the seeds that changed last and all pages. */
async function findResults(
  visit: WorkspaceVisit,
  q: string,
  { people, seeds, workspaces }: SearchServices,
): Promise<ResultGroup[]> {
  const { base, principal, workspace } = visit
  const { slug } = workspace
  const contains = (name: string) => name.toLowerCase().includes(q.toLowerCase())
  const [foundSeeds, foundPeople, ofPerson] = await Promise.all([
    seeds.list(principal, slug, { ...(q !== '' && { q }), sort: 'updatedAt', limit: seedsMax }),
    q === '' ? undefined : people.list(principal, slug, { q, limit: peopleMax }),
    workspaces.list(principal),
  ])
  const seedResults = parseJson(foundSeeds.items).map(({ id, title, status }) => ({
    label: title,
    detail: statusNames[status],
    href: `${base}/seeds/${id}`,
  }))
  const peopleResults = (foundPeople ? parseJson(foundPeople.items) : []).flatMap(
    ({ userId, name, email }) =>
      userId === null ? [] : [{ label: name, detail: email, href: `${base}/people/${userId}` }],
  )
  // Counted only if there can be more than are shown.
  const [seedCount, peopleCount] = await Promise.all([
    q !== '' && seedResults.length === seedsMax ? seeds.count(principal, slug, q) : 0,
    peopleResults.length === peopleMax ? people.countMembers(principal, slug, q) : 0,
  ])
  const linkToAll = (path: string, count: number, shown: readonly Result[], many: string) =>
    count > shown.length ? [{ label: `All ${count} ${many}`, detail: '', href: withQuery(path, { q }) }] : []
  const groups: ResultGroup[] = [
    {
      name: 'Seeds',
      results: [...seedResults, ...linkToAll(`${base}/seeds`, seedCount, seedResults, 'seeds')],
    },
    {
      name: 'People',
      results: [...peopleResults, ...linkToAll(`${base}/people`, peopleCount, peopleResults, 'people')],
    },
    { name: 'Pages', results: listPages(visit).filter(({ label }) => contains(label)) },
    {
      name: 'Workspaces',
      results: parseJson(ofPerson)
        .filter((other) => other.slug !== slug && contains(other.name))
        .slice(0, workspacesMax)
        .map((other) => ({ label: other.name, detail: other.slug, href: `/w/${other.slug}` })),
    },
  ]
  return groups.filter(({ results }) => results.length > 0)
}

/** The pages that the person may open from anywhere. */
function listPages(visit: WorkspaceVisit): Result[] {
  const { base, may } = visit
  const { links, tabs = [] } = sectionOf(visit, 'People')
  const pages = [
    ...links,
    ...tabs.filter(({ isCurrent }) => !isCurrent),
    ...(may('seeds.create') ? [{ label: 'New seed', href: `${base}/seeds/new` }] : []),
    { label: 'Your profile', href: '/settings/profile' },
    { label: 'Your security', href: '/settings/security' },
  ]
  return pages.map(({ label, href }) => ({ label, detail: '', href }))
}

function renderSearch(visit: WorkspaceVisit, q: string, groups: readonly ResultGroup[]): Page {
  return {
    title: q === '' ? 'Search' : `Search for ${q}`,
    section: sectionOf(visit, 'Search'),
    body: html`<h1>Search</h1>
      ${renderSearchForm({ path: `${visit.base}/search`, label: 'Search seeds, people and pages', value: q })}
      ${groups.map(renderGroup)}
      ${q !== '' && groups.length === 0 && html`<p role="status">Nothing matches “<bdi>${q}</bdi>”.</p>`}`,
  }
}

function renderGroup({ name, results }: ResultGroup): Html {
  const id = name.toLowerCase()
  return html`<section aria-labelledby="${id}">
    <h2 id="${id}">${name}</h2>
    <ul class="rows">
      ${results.map(
        ({ label, detail, href }) =>
          html`<li>
            <a class="title" href="${href}"><bdi>${label}</bdi></a> <span class="hint">${detail}</span>
          </li>`,
      )}
    </ul>
  </section>`
}
