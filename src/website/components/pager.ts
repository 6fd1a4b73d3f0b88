import { ApiError } from '../../kernel/errors.ts'
import type { Page as ListPage } from '../../kernel/pagination.ts'
import { html, type Content } from './html.ts'
import { readQuery, withQuery } from './lists.ts'
import { countOf } from './words.ts'

/** The place of a page in its list, and the way back from it. */
export interface ListPlace {
  /** The cursor of this page; empty on the first one. */
  cursor: string
  /** The cursors of the pages before this one, nearest last, without the first page, which has none. */
  trail: readonly string[]
  /** Whether the requested page does not exist, so that this is the first one. */
  isReset: boolean
}

/** A page of a list with its place. */
export type ListView<Item> = ListPage<Item> & ListPlace

const pageLabels = { first: 'First page', previous: 'Previous page', next: 'Next page' }

const separator = '.'
// A cursor has about 100 characters, and a URL at most 8 KiB.
const trailLengthMax = 40

/**
 * Reads the page of a list that the parameters `cursor` and `trail` name, or the first page if no page has this cursor,
 * such as after a change of the filters. Lists can only be read forward, so the URL keeps the way back.
 */
export async function readListView<Read extends object>(
  request: { query: unknown },
  read: (position: { cursor?: string }) => Promise<Read>,
): Promise<Read & ListPlace> {
  const cursor = readQuery(request, 'cursor')
  const trail = readQuery(request, 'trail').split(separator).filter(Boolean)
  const first = { cursor: '', trail: [], isReset: false }
  if (cursor === '') return { ...(await read({})), ...first }
  try {
    return { ...(await read({ cursor })), cursor, trail, isReset: false }
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'cursor_invalid') throw error
    return { ...(await read({})), ...first, isReset: true }
  }
}

/** The links to the pages before and after a page. `parameters` are those of the filters. */
export function renderPager(
  { cursor, trail, nextCursor }: Pick<ListView<unknown>, 'cursor' | 'trail' | 'nextCursor'>,
  options: {
    path: string
    /** The part of the page that has the list. */
    fragment?: string
    parameters?: Record<string, string>
    labels?: { first: string; previous: string; next: string }
  },
): Content {
  if (cursor === '' && nextCursor === null) return false
  const { path, fragment, parameters = {}, labels = pageLabels } = options
  const toPage = (place: { cursor: string; trail: readonly string[] }) =>
    withQuery(path, { ...parameters, cursor: place.cursor, trail: place.trail.join(separator) }) +
    (fragment === undefined ? '' : `#${fragment}`)
  const previous = { cursor: trail.at(-1) ?? '', trail: trail.slice(0, -1) }
  const next = {
    cursor: nextCursor ?? '',
    trail: cursor === '' ? [] : [...trail, cursor].slice(-trailLengthMax),
  }
  return html`<nav class="pager" aria-label="Pages">
    ${
      cursor !== '' &&
      html`<a class="button quiet" rel="prev" href="${toPage(previous)}"
        >${trail.length === 0 ? labels.first : labels.previous}</a
      >`
    }
    ${nextCursor !== null && html`<a class="button quiet" rel="next" href="${toPage(next)}">${labels.next}</a>`}
  </nav>`
}

/** How many rows a list has, if its first page tells; otherwise that there are more. */
export function renderCount(
  { cursor, nextCursor }: Pick<ListView<unknown>, 'cursor' | 'nextCursor'>,
  rows: number,
  [one, many]: [one: string, many: string],
): Content {
  if (cursor !== '' || rows === 0) return false
  return html`<p class="hint">${nextCursor !== null && 'More than '}${countOf(rows, one, many)}</p>`
}

/** What the page could not show as the URL asked. */
export function renderNotices(notices: readonly (string | false)[]): Content {
  return notices
    .filter((text) => text !== false)
    .map((text) => html`<p class="notice" role="status">${text}</p>`)
}

/** The notice of a list that shows its first page in place of the requested one. */
export const resetNotice = 'That page of the list no longer exists. This is the first page.'
