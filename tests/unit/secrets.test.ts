import { readdir } from 'node:fs/promises'
import { getTableName, is } from 'drizzle-orm'
import { getTableConfig, PgTable } from 'drizzle-orm/pg-core'
import { describe, expect, it } from 'vitest'
import { createAppSecret } from '../../src/platform/secrets/app-secret.port.ts'
import { sealedColumns } from '../../src/platform/secrets/sealed-columns.repository.ts'

const [older, newer, foreign] = ['o', 'n', 'f'].map((letter) => letter.repeat(32)) as [string, string, string]
const before = createAppSecret(() => older)
const during = createAppSecret(() => newer, older)
const after = createAppSecret(() => newer)
const elsewhere = createAppSecret(() => foreign)

describe('APP_SECRET with APP_SECRET_PREVIOUS', () => {
  const boxes = [before, during, after, elsewhere].map((secret) => secret.boxOf('authenticator apps'))

  it('opens what was sealed under either, and seals under the first', () => {
    const [boxBefore, boxDuring] = boxes
    const opened = [boxBefore, boxDuring].map((box) => {
      const sealed = box?.seal('a text') ?? Buffer.of()
      return boxes.map((each) => [each.open(sealed), each.secretOf(sealed)])
    })
    expect(opened).toEqual([
      [
        ['a text', 'current'],
        ['a text', 'previous'],
        [undefined, 'unknown'],
        [undefined, 'unknown'],
      ],
      [
        [undefined, 'unknown'],
        ['a text', 'current'],
        ['a text', 'current'],
        [undefined, 'unknown'],
      ],
    ])
  })

  it('opens nothing that was altered, is cut, or is of another purpose', () => {
    const sealed = before.boxOf('authenticator apps').seal('a text')
    const altered = Buffer.from(sealed)
    altered[altered.length - 1] = (altered.at(-1) ?? 0) ^ 1
    for (const bytes of [altered, sealed.subarray(0, 20), Buffer.of()])
      expect(during.boxOf('authenticator apps').open(bytes)).toBeUndefined()
    expect(during.boxOf('secrets of webhooks').open(sealed)).toBeUndefined()
  })

  it('accepts the tags of either, and makes those of the first', () => {
    const tagsOf = (secret: typeof before) => secret.tagsOf('unsubscribe links', 16)
    const accepted = [before, during].map((secret) => {
      const tag = tagsOf(secret).create('a text')
      expect(tag).toHaveLength(16)
      return [before, during, after, elsewhere].map((each) => tagsOf(each).isValid('a text', tag))
    })
    expect(accepted).toEqual([
      [true, true, false, false],
      [false, true, true, false],
    ])
    const tag = tagsOf(before).create('a text')
    for (const [text, other] of [
      ['another text', tag],
      ['a text', tag.subarray(0, 15)],
      ['a text', Buffer.of()],
    ] as const)
      expect(tagsOf(during).isValid(text, other)).toBe(false)
  })

  it('loads the secret at the first use, once', () => {
    let loads = 0
    const secret = createAppSecret(() => {
      loads++
      return newer
    }, older)
    const box = secret.boxOf('signing key')
    expect(loads).toBe(0)
    box.seal('a text')
    secret.tagsOf('drafts').create('a text')
    expect(loads).toBe(1)
  })
})

describe('columns with encrypted values', () => {
  const underOtherKeys: Record<string, string> = {
    'oauth_records.sealed_successor': 'under the refresh token that it succeeds',
    'flashes.sealed': 'under the cookie of a session, for an hour at most',
    'idempotent_requests.sealed_body': 'under an API key',
  }

  it('are all known to reseal, or are under another key than APP_SECRET', async () => {
    const folder = new URL('../../src/db/schema/', import.meta.url)
    const modules = await Promise.all(
      (await readdir(folder)).map((file) => import(new URL(file, folder).href) as Promise<object>),
    )
    const exported = modules.flatMap((module) => Object.values(module) as unknown[])
    const tables = exported.filter((value) => is(value, PgTable))
    const found = tables.flatMap((table) =>
      getTableConfig(table)
        .columns.filter(({ name }) => name.includes('sealed'))
        .map(({ name }) => `${getTableName(table)}.${name}`),
    )
    const resealed = sealedColumns.map(({ table, value }) => `${getTableName(table)}.${value.name}`)
    expect(new Set([...resealed, ...Object.keys(underOtherKeys)])).toEqual(new Set(found))
  })
})
