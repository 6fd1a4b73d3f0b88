import { Type } from '@sinclair/typebox'
import { operation } from '../../http/description/operation.ts'
import { named, ok, ref } from '../../kernel/schemas.ts'
import { errors } from '../../kernel/errors.ts'

const Health = named(
  'Health',
  { ok, service: Type.Literal('api', { description: 'The name of the service.' }) },
  { ok: true, service: 'api' },
)
const Readiness = named('Readiness', { ok }, { ok: true })

export const systemSchemas = [Health, Readiness]

export const systemHealth = operation({
  id: 'system.health',
  summary: 'Check that the process is alive',
  description: 'Does not use the database. A process that responds does not need a restart.',
  success: ref(Health),
  returns: 'The process is alive.',
  inPlace: true,
})

export const systemReady = operation({
  id: 'system.ready',
  summary: 'Check that the service can answer requests',
  description: 'Returns 503 while the database is unreachable or not migrated, and while the process stops.',
  success: ref(Readiness),
  returns: 'The service can answer requests.',
  errors: [errors.notReady],
})
