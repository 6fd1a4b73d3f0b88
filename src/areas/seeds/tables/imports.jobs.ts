import type { Changes, WorkspaceChangeContext } from '../../../access/change.ts'
import { findMember } from '../../../access/memberships.repository.ts'
import { isAllowed } from '../../../access/permissions.ts'
import type { Database, Executor } from '../../../db/client.ts'
import { together } from '../../../db/together.ts'
import type { Clock } from '../../../kernel/clock.ts'
import type { Principal } from '../../../domain/principal.ts'
import type { JobHandlers, JobQueue, Jobs, RunningJob } from '../../../platform/jobs/jobs.port.ts'
import { prepareSeed, writeSeed } from '../seed-creation.ts'
import { describeChanges } from '../seed-texts.ts'
import { updateSeed } from '../seeds.repository.ts'
import {
  dropRows,
  findNextSlice,
  findWork,
  finishSlice,
  finishUndoing,
  lockImport,
  removeImportedSeeds,
  updateImport,
  type ImportWork,
} from './imports.repository.ts'
import type { TableSeed } from './seed-columns.ts'

interface ImportsJobsOptions {
  db: Database
  clock: Clock
  changes: Changes
  jobs: JobQueue
}

type Payload = Jobs['run_seed_import']

/**
 * Creates the seeds of imports, and deletes them again: a slice in each transaction, which also enqueues the job of the next
 * one. What was committed is not done again, whenever a process ends.
 */
export function createImportsJobs(options: ImportsJobsOptions): Pick<JobHandlers, 'run_seed_import'> {
  const { db, clock } = options
  return {
    async run_seed_import(payload, job) {
      const work = await findWork(db, payload.importId)
      if (!work) return
      const { state } = work
      if (state !== 'running' && state !== 'undoing') return
      const principal = toPrincipal(work, payload, job)
      try {
        await runSlice(options, { work: { ...work, state }, principal, payload, job })
      } catch (error) {
        // Otherwise no other import of the workspace could begin.
        if (job.isLastAttempt) await stop(db, { importId: payload.importId, state, at: clock.now() })
        throw error
      }
    },
  }
}

type State = 'running' | 'undoing'

async function runSlice(
  { db, clock, changes, jobs }: ImportsJobsOptions,
  {
    work: { workspaceId, state, isWorkspaceDeleted },
    principal,
    payload,
    job,
  }: {
    work: ImportWork & { state: State }
    principal: Principal | undefined
    payload: Payload
    job: RunningJob
  },
): Promise<void> {
  const { importId } = payload
  // Who may no longer do it, or is not there any more, does no more of it.
  if (!principal || isWorkspaceDeleted) return stop(db, { importId, state, at: clock.now() })
  const action = state === 'running' ? 'seeds.import' : 'seeds.undoImport'
  const lock = async (tx: Executor) => {
    const [found, member] = await together([
      lockImport(tx, { importId, workspaceId }),
      findMember(tx, workspaceId, principal.user.id),
    ])
    return found && { state: found.state, member }
  }
  await changes.makeIn(
    principal,
    { id: workspaceId, action },
    lock,
    async (context, { state: now, member }) => {
      const { tx } = context
      // Another process has done it meanwhile.
      if (now !== state) return
      if (!member || member.isSuspended || !isAllowed(member.role, action))
        return stop(tx, { importId, state, at: context.now })
      const slice = await findNextSlice(tx, importId, state)
      if (slice && state === 'running') {
        const seedIds = await createSeeds(context, { rows: slice.rows, principal, workspaceId })
        await finishSlice(tx, { importId, number: slice.number, seedIds })
      } else if (slice) {
        const { removed, keptCount } = await removeImportedSeeds(tx, {
          seedIds: slice.seedIds,
          now: context.now,
        })
        for (const { id: seedId, title } of removed)
          context.appendEvent({ type: 'seed.deleted', data: { seedId, title } })
        await finishUndoing(tx, { importId, number: slice.number, removedCount: removed.length, keptCount })
      }
      if (await findNextSlice(tx, importId, state)) {
        const { requestId } = job
        await jobs.enqueue(tx, 'run_seed_import', payload, { requestId })
      } else if (state === 'running')
        await updateImport(tx, importId, { state: 'done', finishedAt: context.now })
      else await updateImport(tx, importId, { state: 'undone' })
    },
  )
}

/** Creates the seeds of some rows, as `seeds.create` does, and sets their statuses. Returns their ids. */
async function createSeeds(
  { tx, now, write, appendEvent }: WorkspaceChangeContext,
  { rows, principal, workspaceId }: { rows: readonly TableSeed[]; principal: Principal; workspaceId: string },
): Promise<string[]> {
  const { user } = principal
  const seedIds: string[] = []
  for (const { status = 'open', statusReason = null, ...input } of rows) {
    const fields = prepareSeed(principal, input)
    const { id: seedId, title } = fields
    seedIds.push(seedId)
    writeSeed({ now, write }, fields, { workspaceId, grantId: null })
    appendEvent({ type: 'seed.created', data: { seedId, title } })
    if (status === 'open') continue
    await updateSeed(
      tx,
      { workspaceId, seedId },
      {
        ...{ status, statusChangedAt: now, statusReason, updatedAt: now },
        ...{ statusChangedByUserId: user.id, statusChangedByName: user.name },
      },
    )
    appendEvent({
      type: 'seed.updated',
      data: { seedId, ...describeChanges(fields, { status }), statusReason, leadName: null },
    })
  }
  return seedIds
}

/** Ends an import before its end: its seeds stay, and it can be undone. Undoing one that was ended can be asked for again. */
async function stop(
  executor: Executor,
  { importId, state, at }: { importId: string; state: State; at: Date },
): Promise<void> {
  await updateImport(executor, importId, { state: 'stopped', finishedAt: at })
  if (state === 'running') await dropRows(executor, importId)
}

/** Who makes an import, as in the request that asked for it. */
function toPrincipal(
  { user }: ImportWork,
  { source, apiKeyId }: Payload,
  { requestId }: RunningJob,
): Principal | undefined {
  if (!user) return undefined
  const { kind, ...rest } = user
  return {
    user: rest,
    ...{ source, apiKeyId, sessionId: null, grantId: null },
    ...(kind === 'service' && { isService: true }),
    ...(requestId !== undefined && { requestId }),
  }
}
