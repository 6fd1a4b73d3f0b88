import type { FastifyRequest } from 'fastify'

const localOrigin = 'http://local.invalid'
// They belong to one view of a page.
const passingParameters = ['done', 'flash']

/**
 * The path of our page that a form was sent from, with its query; undefined if the browser does not say that it was ours.
 * Pages of other sites cannot forge these headers (Fetch Metadata §2.1, RFC 6454 §7).
 */
export function findReferringPage({ headers }: FastifyRequest, webUrl: string): string | undefined {
  const isOurs = headers['sec-fetch-site'] === 'same-origin' || headers.origin === webUrl
  const { referer } = headers
  if (!isOurs || referer === undefined || !URL.canParse(referer)) return undefined
  const { origin, pathname, searchParams } = new URL(referer)
  if (origin !== webUrl || pathname.startsWith('//')) return undefined
  for (const name of passingParameters) searchParams.delete(name)
  return searchParams.size === 0 ? pathname : `${pathname}?${searchParams.toString()}`
}

/**
 * A path of our website with the query of the referring page, if it is the same page: people stay on their page of a list,
 * with its filters. The parameters of the path come last.
 */
export function keepQuery(path: string, referringPage: string | undefined): string {
  const { pathname, searchParams, hash } = new URL(path, localOrigin)
  if (referringPage?.split('?')[0] !== pathname) return path
  const kept = new URL(referringPage, localOrigin)
  for (const [name, value] of searchParams) kept.searchParams.set(name, value)
  return pathname + kept.search + hash
}
