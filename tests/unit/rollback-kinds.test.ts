import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { notificationKinds } from '../../src/domain/notifications.ts'

interface Described {
  components: { schemas: { Notification: { properties: { kind: { enum: string[] } } } } }
}

it('docs/operations.md names the kinds of notifications that the released version does not know', () => {
  const [, listed = ''] =
    /delete from notifications where kind in \(([^)]+)\)/.exec(readFileSync('docs/operations.md', 'utf8')) ??
    []
  const released = JSON.parse(readFileSync('docs/released/openapi.json', 'utf8')) as Described
  const known = released.components.schemas.Notification.properties.kind.enum
  expect(listed.match(/\w+/g)).toEqual(notificationKinds.filter((kind) => !known.includes(kind)))
})
