import { Type } from '@sinclair/typebox'
import { operation } from '../../http/operation.ts'
import { named, ref } from '../../http/schemas.ts'

const Health = named('Health', { ok: Type.Literal(true), service: Type.Literal('api') })
const Readiness = named('Readiness', { ok: Type.Literal(true) })

export const systemSchemas = [Health, Readiness]

export const health = operation({
  id: 'system.health',
  summary: 'Tell that the process is alive',
  description: 'Asks nothing of the database: a process that answers need not be restarted.',
  success: ref(Health),
})

export const ready = operation({
  id: 'system.ready',
  summary: 'Tell whether requests can be answered',
  description:
    'Answers 503 while the database cannot be reached or is not migrated, or the process is stopping.',
  success: ref(Readiness),
})
