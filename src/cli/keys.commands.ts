import type { Command } from 'commander'
import type { RestrictedApiKey } from '../areas/apiKeys/apiKeys.service.ts'
import { ApiError } from '../kernel/errors.ts'
import { addCommand, CommandError, requireUser, toPrincipal, type OutputOptions } from './command.ts'
import { countOf, formatTime, print, printList, printNote, toVisible, type Column } from './output.ts'
import { withServices } from './with-services.ts'

const columns: Column<RestrictedApiKey>[] = [
  { title: 'ID', valueOf: ({ id }) => id },
  { title: 'NAME', valueOf: ({ name }) => name },
  { title: 'KEY', valueOf: ({ tokenPrefix, lastFour }) => `${tokenPrefix}…${lastFour}` },
  { title: 'CREATED (UTC)', valueOf: ({ createdAt }) => formatTime(createdAt) },
  { title: 'LAST USED (UTC)', valueOf: ({ lastUsedAt }) => formatTime(lastUsedAt) },
  { title: 'EXPIRES (UTC)', valueOf: ({ expiresAt }) => formatTime(expiresAt) },
  { title: 'ACCESS', valueOf: ({ access }) => access },
  { title: 'HIGHEST ROLE', valueOf: ({ maxRole }) => maxRole },
  { title: 'WORKSPACES', valueOf: ({ workspaceIds }) => workspaceIds?.join(' ') ?? null },
]

export function addKeyCommands(program: Command): void {
  addCommand(program, {
    name: 'list-keys',
    summary: "List a user's active API keys",
    details: 'Newest first. The keys themselves are not stored and cannot be shown.',
    examples: ['list-keys --email grace@example.com'],
  })
    .requiredOption('--email <address>', 'Email address or id of the user')
    .action(async (options: OutputOptions & { email: string }) => {
      await withServices(async (services) => {
        const user = await requireUser(services, options.email)
        const items = await services.apiKeys.listRestricted(toPrincipal(user))
        printList(options, { items, total: items.length, noun: 'active key' }, columns)
      })
    })

  addCommand(program, {
    name: 'create-key',
    summary: 'Create an API key for a user (shown once)',
    examples: [
      'create-key --email grace@example.com --name Laptop',
      'create-key --email grace@example.com --name CI --json',
    ],
  })
    .requiredOption('--email <address>', 'Email address or id of the user')
    .requiredOption('--name <name>', 'What the key is for, 1 to 64 characters')
    .action(async (options: OutputOptions & { email: string; name: string }) => {
      await withServices(async (services) => {
        const user = await requireUser(services, options.email)
        const key = await services.apiKeys.create(toPrincipal(user), { name: options.name })
        print(options, key, [key.secret])
        printNote(
          options,
          toVisible(`This is the API key ${key.name} of ${user.email}. Store it now: it is not shown again.`),
        )
      })
    })

  addCommand(program, {
    name: 'revoke-key',
    summary: "Revoke a user's API key",
    details: 'The key stops working with its next request.',
    examples: ['list-keys --email grace@example.com', 'revoke-key --id 0190a3c5-7c6e-7d1f-8a57-3f0a5e0c9b11'],
  })
    .requiredOption('--id <id>', 'Id of the key, as list-keys shows it')
    .action(async (options: OutputOptions & { id: string }) => {
      const { name, email, wasActive } = await withServices(({ apiKeys }) =>
        apiKeys.revokeAny(options.id).catch((error: unknown) => {
          if (error instanceof ApiError && error.code === 'not_found')
            throw new CommandError('not_found', `No API key has the id ${options.id}.`)
          throw error
        }),
      )
      print(options, { ok: true, changed: wasActive }, [
        toVisible(
          wasActive
            ? `Revoked the API key ${name} of ${email}.`
            : `The API key ${name} of ${email} was already revoked.`,
        ),
      ])
    })

  addCommand(program, {
    name: 'revoke-keys',
    summary: 'Revoke all API keys of a user',
    details: 'They stop working with their next request. Agents keep their access: see delete-client.',
    examples: ['revoke-keys --email grace@example.com'],
  })
    .requiredOption('--email <address>', 'Email address or id of the user')
    .action(async (options: OutputOptions & { email: string }) => {
      await withServices(async (services) => {
        const { id, email } = await requireUser(services, options.email)
        const revoked = await services.apiKeys.revokeAllOf(id)
        print(options, { ok: true, revoked }, [
          toVisible(`Revoked ${countOf(revoked, 'active API key')} of ${email}.`),
        ])
      })
    })
}
