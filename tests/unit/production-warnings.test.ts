import { expect, it } from 'vitest'
import { loadConfig } from '../../src/config/config.ts'
import { listProductionWarnings } from '../../src/production-warnings.ts'

const complete = {
  NODE_ENV: 'production',
  DATABASE_URL: 'postgres://database.example/service',
  BASE_URL: 'https://api.example.com',
  SMTP_URL: 'smtp://mail.example.com',
  APP_SECRET: 'x'.repeat(32),
}

const warningsOf = (environment: Record<string, string>) =>
  listProductionWarnings(loadConfig({ ...complete, ...environment }))

it('has no production warnings in development, or when all variables are set', () => {
  expect(listProductionWarnings(loadConfig({}))).toEqual([])
  expect(warningsOf({})).toEqual([])
})

it.each([
  ['SMTP_URL', ''],
  ['APP_SECRET', ''],
  ['BASE_URL', 'http://localhost:3000'],
  ['BASE_URL', 'http://127.0.0.1:3000'],
  ['BASE_URL', 'http://[::1]:3000'],
])('reports one production warning for %s when it is "%s"', (name, value) => {
  expect(warningsOf({ [name]: value })).toEqual([expect.stringContaining(name)])
})
