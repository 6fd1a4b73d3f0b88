import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { afterFile } from '../support/after-file.ts'
import { createCompany, get, patch, post } from '../support/company.ts'
import { startTestApp } from '../support/test-app.ts'

const service = await startTestApp({ environment: {} })
const company = await createCompany(service)
const { url, owner } = company

/** Holds the table of seeds, as a change of the table does. */
const holder = new pg.Client({ connectionString: String(service.config.databaseUrl) })
await holder.connect()
await holder.query('begin; lock table seeds in access exclusive mode')
afterFile(() => holder.end())

describe('while the table of seeds is locked', () => {
  it.each([
    ['me.updateProfile', patch('/v1/me', { name: 'Olga' })],
    ['invites.create', post(`${url}/invites`, { email: 'new@example.com', role: 'member' })],
    ['teams.create', post(`${url}/teams`, { name: 'Research' })],
    ['teams.list', get(`${url}/teams`)],
    ['members.list', get(`${url}/members`)],
    ['people.list', get(`${url}/people`)],
    ['workspaces.list', get('/v1/workspaces')],
  ])('%s, which needs no seeds, does not wait', async (_, request) => {
    const answer = await service.as(owner, request)
    expect(answer.statusCode, answer.body).toBe(200)
    const { rowCount } = await holder.query(
      `select 1 from pg_locks where relation = 'seeds'::regclass and not granted`,
    )
    expect(rowCount).toBe(0)
  })
})
