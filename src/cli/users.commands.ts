import type { Command } from 'commander'
import type {
  Account,
  Deletion,
  ListedAccount,
  SecretsOfWorkspace,
  WorkspaceOfPerson,
} from '../accounts/accounts.service.ts'
import type { AccountTokenPurpose } from '../domain/accounts.ts'
import {
  addCommand,
  addLimit,
  CommandError,
  requireUser,
  toPrincipal,
  toLimit,
  type LimitOptions,
  type OutputOptions,
} from './command.ts'
import { confirm } from './confirm.ts'
import { countOf, formatTime, print, printList, printNote, toVisible, type Column } from './output.ts'
import { withServices } from './with-services.ts'
import { writeExport } from './write-export.ts'

const columns: Column<ListedAccount>[] = [
  { title: 'ID', valueOf: ({ id }) => id },
  { title: 'EMAIL', valueOf: ({ email }) => email },
  { title: 'NAME', valueOf: ({ name }) => name },
  { title: 'VERIFIED', valueOf: ({ isVerified }) => (isVerified ? 'yes' : 'no') },
  { title: 'SUSPENDED', valueOf: ({ isSuspended }) => (isSuspended ? 'yes' : 'no') },
  { title: 'WORKSPACES', valueOf: ({ workspaceCount }) => workspaceCount },
  { title: 'CREATED (UTC)', valueOf: ({ createdAt }) => formatTime(createdAt) },
]

type EmailOptions = OutputOptions & { email: string }

export function addUserCommands(program: Command): void {
  addLimit(
    addCommand(program, {
      name: 'list-users',
      summary: 'List users',
      details: 'Newest first.',
      examples: ['list-users', 'list-users --query hopper', 'list-users --limit 0 --json'],
    })
      .option('--email <address>', 'Show only the user with this email address')
      .option('--query <text>', 'Show only users with this text in their name or email address'),
  ).action(async (options: OutputOptions & LimitOptions & { email?: string; query?: string }) => {
    const { email, query } = options
    const list = await withServices(({ accounts }) =>
      accounts.list({
        ...(email !== undefined && { email }),
        ...(query !== undefined && { query }),
        ...toLimit(options),
      }),
    )
    printList(options, { ...list, noun: 'user' }, columns)
  })

  addCommand(program, {
    name: 'create-user',
    summary: 'Create a user',
    details:
      'With --verified, the user joins the workspace that allows the domain of the address, if it is the only one.',
    examples: [
      'create-user --email grace@example.com --name "Grace Hopper"',
      'create-user --email grace@example.com --name "Grace Hopper" --verified --json',
    ],
  })
    .requiredOption('--email <address>', 'Email address')
    .requiredOption('--name <name>', 'Full name')
    .option('--verified', 'Mark the address as verified')
    .action(async (options: EmailOptions & { name: string; verified?: boolean }) => {
      const { id, email, name } = await withServices(({ accounts }) =>
        accounts.create({ email: options.email, name: options.name, isVerified: options.verified ?? false }),
      )
      print(options, { id, email, name }, [`Created ${describeUser({ name, email })} with the id ${id}.`])
    })

  addCommand(program, {
    name: 'verify-user',
    summary: "Mark a user's email address as verified",
    details:
      'Do this only if you know that the address belongs to the person who created the account: they keep their password. ' +
      'The user joins the workspace that allows the domain of the address, if it is the only one.',
    examples: ['verify-user --email grace@example.com'],
  })
    .requiredOption('--email <address>', 'Email address or id of the user')
    .action(async (options: EmailOptions) => {
      await withServices(async (services) => {
        const user = await requireUser(services, options.email)
        const changed = await services.accounts.verify(user.id)
        print(options, { ok: true, changed }, [
          changed
            ? `Marked ${toVisible(user.email)} as verified.`
            : `${toVisible(user.email)} is already verified.`,
        ])
      })
    })

  addLinkCommand(program, {
    name: 'sign-in-link',
    purpose: 'sign_in',
    summary: 'Print a one-time sign-in link for a user',
    describe: (user) =>
      `This link signs in ${describeUser(user)}.` +
      (user.emailVerifiedAt === null
        ? ' It also verifies the address, and removes the password that was set before.'
        : ''),
  })

  addLinkCommand(program, {
    name: 'password-link',
    purpose: 'reset_password',
    summary: 'Print a one-time link to set a new password',
    describe: (user) =>
      `This link lets ${describeUser(user)} choose a new password, which signs them out on all devices.`,
  })

  addCommand(program, {
    name: 'remove-second-factor',
    summary: 'Turn off two-step sign-in for a user',
    details:
      'For a user who has lost their phone and their recovery codes. Verify their identity in another way first. They are ' +
      'notified by mail, and can turn it on again.',
    examples: ['remove-second-factor --email grace@example.com'],
  })
    .requiredOption('--email <address>', 'Email address or id of the user')
    .action(async (options: EmailOptions) => {
      await withServices(async (services) => {
        const user = await requireUser(services, options.email)
        const wasOn = await services.secondFactor.removeOf(user.id)
        print(options, { ok: true, changed: wasOn }, [
          wasOn
            ? `Turned off two-step sign-in for ${describeUser(user)}.`
            : `${describeUser(user)} has no two-step sign-in.`,
        ])
      })
    })

  addCommand(program, {
    name: 'revoke-sessions',
    summary: 'Sign a user out everywhere',
    details:
      'Ends their sessions on the website, and the links in mails that were sent to them. They can sign in again: see ' +
      'also revoke-keys and password-link.',
    examples: ['revoke-sessions --email grace@example.com'],
  })
    .requiredOption('--email <address>', 'Email address or id of the user')
    .action(async (options: EmailOptions) => {
      await withServices(async (services) => {
        const user = await requireUser(services, options.email)
        const revoked = await services.credentials.signOutEverywhere(user.id)
        print(options, { ok: true, revoked }, [
          `Ended ${countOf(revoked, 'session')} of ${describeUser(user)}.`,
        ])
      })
    })

  addCommand(program, {
    name: 'suspend-user',
    summary: 'Suspend a user',
    details:
      'Nothing of theirs works from now on: sessions, API keys, agents, links, passkeys, identity providers and the invites ' +
      'that they sent; they get no mail. Nothing is deleted, and unsuspend-user ends it. Refused while they are the only ' +
      'owner of a workspace.',
    examples: ['suspend-user --email grace@example.com', 'suspend-user --email grace@example.com --force'],
  })
    .requiredOption('--email <address>', 'Email address or id of the user')
    .option('--force', 'Also if workspaces are without an owner then')
    .action(async (options: EmailOptions & { force?: boolean }) => {
      await withServices(async (services) => {
        const user = await requireUser(services, options.email)
        const suspension = await services.accounts.suspend(user.id, { isForced: options.force ?? false })
        if (!suspension.isSuspended) {
          const slugs = suspension.lastOwnerOf.map(({ slug }) => slug).join(', ')
          throw new CommandError(
            'refused',
            `${toVisible(user.email)} was not suspended. They are the only owner of ${slugs}: make another member an owner ` +
              'first, or pass --force.',
          )
        }
        const { changed } = suspension
        const withoutOwner = suspension.withoutOwner.map(({ slug }) => slug)
        const { known } = suspension
        print(options, { ok: true, changed, workspacesWithoutOwner: withoutOwner, knownSecrets: known }, [
          changed ? `Suspended ${describeUser(user)}.` : `${describeUser(user)} is already suspended.`,
          ...(withoutOwner.length > 0 ? [`Without an owner now: ${withoutOwner.join(', ')}.`] : []),
          ...describeKnown(known),
        ])
      })
    })

  addCommand(program, {
    name: 'unsuspend-user',
    summary: 'End the suspension of a user',
    details:
      'What has not expired meanwhile works again: sessions, API keys, agents and invites that they sent.',
    examples: ['unsuspend-user --email grace@example.com'],
  })
    .requiredOption('--email <address>', 'Email address or id of the user')
    .action(async (options: EmailOptions) => {
      await withServices(async (services) => {
        const user = await requireUser(services, options.email)
        const changed = await services.accounts.unsuspend(user.id)
        print(options, { ok: true, changed }, [
          changed
            ? `${describeUser(user)} is not suspended any more.`
            : `${describeUser(user)} is not suspended.`,
        ])
      })
    })

  addCommand(program, {
    name: 'export-user',
    summary: "Export everything that is a user's",
    details: 'As me.export of the API, as JSON.',
    examples: [
      'export-user --email grace@example.com > grace.json',
      'export-user --email grace@example.com grace.json',
    ],
  })
    .requiredOption('--email <address>', 'Email address or id of the user')
    .argument('[file]', 'File to write (default: standard output)')
    .action(async (file: string | undefined, options: EmailOptions) => {
      await withServices(async (services) => {
        const user = await requireUser(services, options.email)
        const { json } = await services.accountDeletion.exportPerson(toPrincipal(user))
        await writeExport(options, json, file)
      })
    })

  addCommand(program, {
    name: 'delete-user',
    summary: 'Delete a user and erase their name',
    details:
      'Ends their sessions and revokes their API keys and the access of agents. Their seeds and evidence and the ' +
      'activity of workspaces stay, without their name. Refused while they are the only owner of a workspace that has ' +
      'other members.',
    examples: [
      'delete-user --email grace@example.com',
      'delete-user --email grace@example.com --delete-workspaces --yes',
    ],
  })
    .requiredOption('--email <address>', 'Email address or id of the user')
    .option(
      '--delete-workspaces',
      'Also delete the workspaces that have no other members, with everything in them',
    )
    .option('--yes', 'Do not ask for confirmation')
    .action(async (options: EmailOptions & { deleteWorkspaces?: boolean; yes?: boolean }) => {
      const withWorkspaces = options.deleteWorkspaces ?? false
      await withServices(async (services) => {
        const user = await requireUser(services, options.email)
        await confirm(`Delete ${describeUser(user)}? This cannot be undone.`, options)
        const deletion = await services.accounts.delete(user.id, { withWorkspaces })
        if (!deletion.isDeleted) throw new CommandError('refused', explainRefusal(user, deletion))
        const { left, deleted, known } = deletion
        const slugsOf = (workspaces: WorkspaceOfPerson[]) => workspaces.map(({ slug }) => slug)
        const workspaces = { left: slugsOf(left), deletedWorkspaces: slugsOf(deleted) }
        print(options, { ok: true, id: user.id, ...workspaces, knownSecrets: known }, [
          `Deleted ${describeUser(user)}.`,
          ...(left.length > 0 ? [`Removed from ${slugsOf(left).join(', ')}.`] : []),
          ...(deleted.length > 0 ? [`Also deleted: ${slugsOf(deleted).join(', ')}.`] : []),
          ...describeKnown(known),
        ])
      })
    })
}

/** A line for each workspace of which somebody knows secrets that still work. */
function describeKnown(known: readonly SecretsOfWorkspace[]): string[] {
  return known.map(
    ({ slug, secrets }) =>
      `They know secrets of ${slug} that still work. Have its owners rotate them: ${toVisible(secrets.join(', '))}.`,
  )
}

function addLinkCommand(
  program: Command,
  definition: {
    name: string
    purpose: AccountTokenPurpose
    summary: string
    describe: (user: Account) => string
  },
): void {
  const { name, purpose, summary, describe } = definition
  addCommand(program, {
    name,
    summary,
    details:
      'For a user who cannot receive mail. The link works for 24 hours. Share it in private: anyone who has it can use it.',
    examples: [`${name} --email grace@example.com`, `${name} --email grace@example.com --json`],
  })
    .requiredOption('--email <address>', 'Email address or id of the user')
    .action(async (options: EmailOptions) => {
      await withServices(async (services) => {
        const user = await requireUser(services, options.email)
        if (user.suspendedAt !== null)
          throw new CommandError(
            'refused',
            `${toVisible(user.email)} is suspended: use unsuspend-user first.`,
          )
        const { url, expiresAt } = await services.credentials.createLink(purpose, user.id)
        print(options, { email: user.email, url, expiresAt: expiresAt.toISOString() }, [url])
        const expiry = `It works once, until ${String(formatTime(expiresAt))} UTC.`
        printNote(options, `${describe(user)} ${expiry}`)
      })
    })
}

function describeUser({ name, email }: Pick<Account, 'name' | 'email'>): string {
  return toVisible(`${name} <${email}>`)
}

function explainRefusal(
  { email }: Account,
  { lastOwnerOf, aloneIn }: Extract<Deletion, { isDeleted: false }>,
): string {
  const list = (workspaces: WorkspaceOfPerson[]) =>
    workspaces.map(({ slug, memberCount }) => `${slug} (${countOf(memberCount, 'member')})`).join(', ')
  const reasons = [`${email} was not deleted.`]
  if (lastOwnerOf.length > 0) {
    reasons.push(
      `They are the only owner of ${list(lastOwnerOf)}: make another member an owner first, on the People page ` +
        '(sign-in-link signs in as this user).',
    )
  }
  if (aloneIn.length > 0) {
    reasons.push(
      `They are the only member of ${list(aloneIn)}: pass --delete-workspaces to delete it too, or add another member first.`,
    )
  }
  return reasons.join(' ')
}
