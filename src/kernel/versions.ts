import { hash } from 'node:crypto'
import { errors } from './errors.ts'

/** The versions of which an object must have one to be changed (`If-Match`); `*` is any. */
export type ExpectedVersions = readonly string[] | '*'

/**
 * The version of an object: a digest of its fields. It needs no column, survives a restore, and is the same whoever writes
 * the row. Fields that are not named do not count; without names, all do.
 */
export function versionOfFields<Fields extends object>(
  fields: Fields,
  names: readonly (keyof Fields & string)[] = Object.keys(fields) as (keyof Fields & string)[],
): string {
  return digest(JSON.stringify(names.toSorted().map((name) => [name, fields[name]])))
}

/** 96 bits of SHA-256: enough to tell texts apart, and no secret. */
export function digest(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 16)
}

/** Throws `precondition_failed` for a version that a request does not expect. */
export function assertExpected({ expected }: { expected?: ExpectedVersions }, version: string): void {
  if (expected === undefined || expected === '*' || expected.includes(version)) return
  throw errors.preconditionFailed()
}

/** The entity tag of an object (RFC 9110 §8.8.3): its version, and the digest of the response that shows it. */
export function tagOf(version: string, response: string): string {
  return `"${version}.${digest(response)}"`
}

/** The entity tag of a response that does not show the object: its version, for `If-Match`. */
export function tagOfVersion(version: string): string {
  return `"${version}"`
}

/** An entity tag of a request. */
export interface RequestTag {
  /** Without the sign of a weak tag, and without the suffix that a proxy adds for a content coding. */
  tag: string
  /** As it was sent. */
  text: string
}

/** A tag without what servers such as Apache and Jetty add to that of a response which they compress. */
export function withoutCoding(tag: string): string {
  return tag.replace(/-(?:gzip|br|zstd|df)"$/, '"')
}

/** The tags of a conditional header, in linear time; `*` for that. What is no tag matches nothing, and is left out. */
export function parseTags(header: string): RequestTag[] | '*' {
  if (header.trim() === '*') return '*'
  const found = header.matchAll(/(?:W\/)?("[\x21\x23-\x7e\x80-\xff]*")/g)
  return Array.from(found, ([text, tag = '']) => ({ text, tag: withoutCoding(tag) }))
}

/** The versions that the tags of an `If-Match` name. Weak tags count: proxies that compress weaken them. */
export function parseExpected(header: string): ExpectedVersions {
  const tags = parseTags(header)
  return tags === '*' ? tags : tags.map(({ tag }) => tag.slice(1, -1).split('.')[0] ?? '')
}
