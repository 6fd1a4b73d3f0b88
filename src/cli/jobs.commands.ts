import { InvalidArgumentError, type Command } from 'commander'
import type { ListedJob } from '../platform/jobs/job-operations.repository.ts'
import {
  addCommand,
  addLimit,
  CommandError,
  toLimit,
  UsageError,
  type LimitOptions,
  type OutputOptions,
} from './command.ts'
import { countOf, formatTime, print, printList, toVisible, type Column } from './output.ts'
import { withServices } from './with-services.ts'

const errorLengthMax = 100

const columns: Column<ListedJob>[] = [
  { title: 'ID', valueOf: ({ id }) => id },
  { title: 'TASK', valueOf: ({ task }) => task },
  { title: 'STATE', valueOf: ({ state }) => state },
  { title: 'ATTEMPTS', valueOf: ({ attempts, attemptsMax }) => `${attempts}/${attemptsMax}` },
  { title: 'RUNS AT (UTC)', valueOf: ({ runAt }) => formatTime(runAt) },
  {
    title: 'ABOUT',
    valueOf: ({ subjects }) =>
      Object.entries(subjects)
        .map(([name, id]) => `${name}=${id}`)
        .join(' ') || null,
  },
  { title: 'LAST ERROR', valueOf: ({ lastError }) => lastError?.slice(0, errorLengthMax) ?? null },
]

export function addJobCommands(program: Command): void {
  addLimit(
    addCommand(program, {
      name: 'list-jobs',
      summary: 'List the jobs that have not succeeded',
      details:
        'Those that run first come first. A failed job has used all its attempts, and stays until it is retried. The ' +
        'payloads are not shown, but for the ids of what a job is about.',
      examples: ['list-jobs', 'list-jobs --failed --json'],
    }).option('--failed', 'Show only the jobs that failed in all attempts'),
  ).action(async (options: OutputOptions & LimitOptions & { failed?: boolean }) => {
    const filter = { isFailed: options.failed ?? false, ...toLimit(options) }
    const list = await withServices(({ jobOperations }) => jobOperations.list(filter))
    printList(options, { ...list, noun: 'job' }, columns)
  })

  addCommand(program, {
    name: 'retry-jobs',
    summary: 'Run failed jobs again, or those that wait for their next attempt',
    details:
      'A running service begins with them at once. A failed job gets as many attempts as a new one; with --waiting, the attempts ' +
      'that are left.',
    examples: [
      'list-jobs --failed',
      'retry-jobs --failed',
      'retry-jobs --waiting',
      'retry-jobs --id 17 --id 18',
    ],
  })
    .option('--failed', 'All jobs that failed in all attempts')
    .option('--waiting', 'All jobs of which an attempt failed, and which wait for the next one')
    .option('--id <id>', 'A failed job, as list-jobs shows it; may be repeated', collectId, [])
    .action(async (options: OutputOptions & { failed?: boolean; waiting?: boolean; id: string[] }) => {
      const { failed = false, waiting = false, id: ids } = options
      if ([failed, waiting, ids.length > 0].filter(Boolean).length !== 1)
        throw new UsageError('Pass one of --failed, --waiting and --id.')
      const retried = await withServices(({ jobOperations }) =>
        waiting ? jobOperations.retryWaiting() : jobOperations.retry(failed ? undefined : ids),
      )
      const missing = ids.filter((id) => !retried.includes(id))
      if (missing.length > 0)
        throw new CommandError(
          'not_found',
          `These are not failed jobs: ${missing.join(', ')}. ${countOf(retried.length, 'job')} will run again.`,
        )
      print(options, { ok: true, retried }, [toVisible(`${countOf(retried.length, 'job')} will run again.`)])
    })
}

function collectId(text: string, ids: string[]): string[] {
  if (!/^[0-9]{1,18}$/.test(text)) throw new InvalidArgumentError('It must be the number of a job.')
  return [...ids, text]
}
