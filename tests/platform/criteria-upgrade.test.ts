import { expect, it } from 'vitest'
import { migrateDatabase } from '../../src/db/migrate.ts'
import { createId, isId } from '../../src/kernel/ids.ts'
import { openDatabaseAtBaseline } from '../support/baseline-database.ts'

it('the success criteria of before get ids, in their order, and what the version before writes later too', async () => {
  const { pool, workspaces } = await openDatabaseAtBaseline()
  const add = async (texts: string[]) => {
    const id = createId()
    await pool.query(
      `insert into seeds (id, workspace_id, title, summary, success_criteria, status, created_at, updated_at)
        values ($1, $2, 'Fewer meetings', 'A day of none', $3, 'open', now(), now())`,
      [id, workspaces[0], texts],
    )
    return id
  }
  const read = async (id: string) => {
    const { rows } = await pool.query<{ criteria: { id: string; text: string; state: string }[] }>(
      'select criteria from seeds where id = $1',
      [id],
    )
    return rows[0]?.criteria ?? []
  }
  const texts = ['Ten would pay', 'Ten would pay', '"Quoted", {braced}\\', '十二人のうち十人']
  const [former, none] = [await add(texts), await add([])]
  await migrateDatabase(pool)
  const later = await add(texts)
  for (const id of [former, later]) {
    const criteria = await read(id)
    expect(criteria.map(({ text, state }) => [text, state])).toEqual(texts.map((text) => [text, 'open']))
    expect(criteria.every((criterion) => isId(criterion.id))).toBe(true)
    expect(new Set(criteria.map((criterion) => criterion.id)).size).toBe(texts.length)
  }
  expect(await read(none)).toEqual([])
  const before = await read(former)
  await pool.query('update seeds set success_criteria = $2 where id = $1', [
    former,
    [texts[3], texts[0], 'New'],
  ])
  expect((await read(former)).map(({ id }) => id).slice(0, 2)).toEqual([before[3]?.id, before[0]?.id])
})
