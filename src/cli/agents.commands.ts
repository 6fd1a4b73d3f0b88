import type { Command } from 'commander'
import type { Client } from '../agents/oauth/agent-oauth.ts'
import {
  addCommand,
  addLimit,
  CommandError,
  toLimit,
  type LimitOptions,
  type OutputOptions,
} from './command.ts'
import { confirm } from './confirm.ts'
import { countOf, formatTime, print, printList, toVisible, type Column } from './output.ts'
import { withServices } from './with-services.ts'

const columns: Column<Client>[] = [
  { title: 'ID', valueOf: ({ id }) => id },
  { title: 'NAME', valueOf: ({ name }) => name },
  { title: 'GRANTS', valueOf: ({ grantCount }) => grantCount },
  { title: 'REGISTERED (UTC)', valueOf: ({ registeredAt }) => formatTime(registeredAt) },
  { title: 'LAST USED (UTC)', valueOf: ({ lastUsedAt }) => formatTime(lastUsedAt) },
]

export function addAgentCommands(program: Command): void {
  addLimit(
    addCommand(program, {
      name: 'list-clients',
      summary: 'List OAuth clients (agents)',
      details:
        'Newest first. Clients choose their own names. GRANTS counts active grants. A client that uses a metadata ' +
        'document has no date of registration.',
      examples: ['list-clients', 'list-clients --limit 0 --json'],
    }),
  ).action(async (options: OutputOptions & LimitOptions) => {
    const list = await withServices(({ agentOAuth }) => agentOAuth.listClients(toLimit(options)))
    printList(options, { ...list, noun: 'client' }, columns)
  })

  addCommand(program, {
    name: 'delete-client',
    summary: 'Delete an OAuth client and revoke its access',
    details: 'The client has no access from its next request on. It may register again.',
    examples: ['list-clients', 'delete-client --id kT3nS0mXbq4 --yes'],
  })
    .requiredOption('--id <id>', 'Id of the client, as list-clients shows it')
    .option('--yes', 'Do not ask for confirmation')
    .action(async (options: OutputOptions & { id: string; yes?: boolean }) => {
      await withServices(async ({ agentOAuth }) => {
        await confirm(`Delete the client ${options.id} and revoke its access?`, options)
        const revokedGrants = await agentOAuth.deleteClient(options.id)
        if (revokedGrants === undefined)
          throw new CommandError('not_found', `No client has the id ${options.id}.`)
        print(options, { ok: true, revokedGrants }, [
          toVisible(`Deleted the client ${options.id} and revoked ${countOf(revokedGrants, 'grant')}.`),
        ])
      })
    })

  addCommand(program, {
    name: 'rotate-signing-key',
    summary: "Sign agents' access tokens with a new key",
    details: 'Access tokens that were signed with an old key stay valid until they expire.',
    examples: ['rotate-signing-key'],
  }).action(async (options: OutputOptions) => {
    const id = await withServices(({ agentOAuth }) => agentOAuth.rotateSigningKey())
    if (id === undefined)
      throw new CommandError(
        'refused',
        'This APP_SECRET does not open what is stored, so the service could not use a new key. Run the command with ' +
          'the APP_SECRET or the DATA_DIR of the service. Nothing was changed.',
      )
    print(options, { id }, [`Every process signs with the new key ${id} within a minute.`])
  })
}
