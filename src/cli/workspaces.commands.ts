import type { Command } from 'commander'
import type { ListedWorkspace } from '../areas/workspaces/workspaces.service.ts'
import { ApiError } from '../kernel/errors.ts'
import {
  addCommand,
  addLimit,
  CommandError,
  requireUser,
  toLimit,
  toPrincipal,
  type LimitOptions,
  type OutputOptions,
} from './command.ts'
import { confirm } from './confirm.ts'
import { writeExport } from './write-export.ts'
import { countOf, formatTime, print, printList, toVisible, type Column } from './output.ts'
import { withServices } from './with-services.ts'

const columns: Column<ListedWorkspace>[] = [
  { title: 'ID', valueOf: ({ id }) => id },
  { title: 'SLUG', valueOf: ({ slug }) => slug },
  { title: 'NAME', valueOf: ({ name }) => name },
  { title: 'MEMBERS', valueOf: ({ memberCount }) => memberCount },
  { title: 'OWNERS', valueOf: ({ owners }) => owners.join(', ') },
  { title: 'CREATED (UTC)', valueOf: ({ createdAt }) => formatTime(createdAt) },
  { title: 'DELETED (UTC)', valueOf: ({ deletedAt }) => (deletedAt === null ? '' : formatTime(deletedAt)) },
]

interface SlugOptions extends OutputOptions {
  slug: string
}

/** Says what to look for when a slug names no workspace, or one without an owner. */
async function found<T>({ slug }: SlugOptions, looking: Promise<T>): Promise<T> {
  return looking.catch((error: unknown) => {
    if (error instanceof ApiError && error.code === 'not_found')
      throw new CommandError('not_found', `No such workspace has the slug ${slug}. See list-workspaces.`)
    if (error instanceof ApiError && error.code === 'last_owner')
      throw new CommandError('refused', 'The workspace has no owner left: name one with --owner.')
    throw error
  })
}

export function addWorkspaceCommands(program: Command): void {
  addLimit(
    addCommand(program, {
      name: 'list-workspaces',
      summary: 'List workspaces',
      details: 'Newest first, also deleted ones, until they are erased.',
      examples: ['list-workspaces', 'list-workspaces --query acme --json'],
    }).option('--query <text>', 'Show only workspaces with this text in their name or slug'),
  ).action(async (options: OutputOptions & LimitOptions & { query?: string }) => {
    const { query } = options
    const list = await withServices(({ workspaces }) =>
      workspaces.listAll({ ...(query !== undefined && { query }), ...toLimit(options) }),
    )
    printList(options, { ...list, noun: 'workspace' }, columns)
  })

  addCommand(program, {
    name: 'create-workspace',
    summary: 'Create a workspace for a user',
    details: 'The user becomes its owner, also if WORKSPACE_CREATION is nobody.',
    examples: ['create-workspace --owner grace@example.com --name "Acme Labs" --slug acme-labs'],
  })
    .requiredOption('--owner <address>', 'Email address or id of the user who owns it')
    .requiredOption('--name <name>', 'Name of the workspace')
    .requiredOption('--slug <slug>', 'Its place in URLs, such as acme-labs')
    .action(async (options: OutputOptions & { owner: string; name: string; slug: string }) => {
      await withServices(async (services) => {
        const user = await requireUser(services, options.owner)
        const { name, slug } = options
        const { id } = await services.workspaces.create(toPrincipal(user), { name, slug })
        print(options, { id, name, slug, owner: user.email }, [
          toVisible(`Created the workspace ${name} (${slug}) with the id ${id}. ${user.email} owns it.`),
        ])
      })
    })

  addCommand(program, {
    name: 'delete-workspace',
    summary: 'Delete a workspace',
    details:
      'It is gone at once for its members and agents, and its owners are told by mail. restore-workspace brings it back for ' +
      '14 days. Then it is erased. Nobody can take its slug for 90 days.',
    examples: ['delete-workspace --slug acme', 'delete-workspace --slug acme --yes'],
  })
    .requiredOption('--slug <slug>', 'Current slug of the workspace')
    .option('--yes', 'Do not ask for confirmation')
    .action(async (options: SlugOptions & { yes?: boolean }) => {
      await withServices(async ({ ownership }) => {
        await confirm(`Delete the workspace ${options.slug}?`, options)
        const { id, name, slug } = await found(options, ownership.deleteForOperator(options.slug))
        print(options, { ok: true, id, slug }, [`Deleted ${toVisible(name)} (${slug}).`])
      })
    })

  addCommand(program, {
    name: 'restore-workspace',
    summary: 'Restore a deleted workspace',
    details: 'Within 14 days. list-workspaces shows when workspaces were deleted.',
    examples: ['restore-workspace --slug acme', 'restore-workspace --slug acme --owner grace@example.com'],
  })
    .requiredOption('--slug <slug>', 'Slug of the workspace')
    .option('--owner <address>', 'Email address of a user who becomes an owner, if it has no owner left')
    .action(async (options: SlugOptions & { owner?: string }) => {
      await withServices(async (services) => {
        const { owner } = options
        const user = owner === undefined ? undefined : await requireUser(services, owner)
        const restored = services.ownership.restore(options.slug, { ...(user && { ownerEmail: user.email }) })
        const { id, name, slug } = await found(options, restored)
        print(options, { ok: true, id, slug }, [`Restored ${toVisible(name)} (${slug}).`])
      })
    })

  addCommand(program, {
    name: 'export-workspace',
    summary: 'Export everything in a workspace',
    details:
      'As workspaces.export of the API: a JSON object in each line. Also a deleted workspace, until it is erased.',
    examples: ['export-workspace --slug acme > acme.ndjson', 'export-workspace --slug acme acme.ndjson'],
  })
    .requiredOption('--slug <slug>', 'Current slug of the workspace')
    .argument('[file]', 'File to write (default: standard output)')
    .action(async (file: string | undefined, options: SlugOptions) => {
      await withServices(async ({ exports }) => {
        const lines = await found(options, exports.exportForOperator(options.slug))
        await writeExport(options, lines, file)
      })
    })

  addCommand(program, {
    name: 'remove-examples',
    summary: 'Remove the example seeds of the first start',
    details:
      'Removes the seeds that the first start created, with all their evidence, if their titles still begin with ' +
      '"Example: ".',
    examples: ['remove-examples'],
  }).action(async (options: OutputOptions) => {
    const removed = await withServices(({ seeds }) => seeds.deleteExamples())
    print(
      options,
      { ok: true, removed },
      removed.length === 0
        ? ['There are no example seeds.']
        : [
            `Removed ${countOf(removed.length, 'example seed')}:`,
            ...removed.map((title) => `  ${toVisible(title)}`),
          ],
    )
  })
}
