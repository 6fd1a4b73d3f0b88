import { readdir, readFile } from 'node:fs/promises'
import { Column, getTableName, is, SQL } from 'drizzle-orm'
import { getTableConfig, PgTable } from 'drizzle-orm/pg-core'
import { describe, expect, it } from 'vitest'
import { sourcesOf as sourcesOfPerson } from '../../src/accounts/deletion/person-export.repository.ts'
import { PersonExport } from '../../src/areas/me/person-export.schemas.ts'
import { sourcesOf, sourcesOfSeeds } from '../../src/areas/workspaces/export/export.repository.ts'

type Reasons = Record<string, string>

/** A table of which the export has columns, or says why it has not; `'*'` gives the reason for all others. */
interface Declared {
  /** Of a workspace, itself or through its parent. */
  workspace?: Reasons
  /** Of a person, by these columns, or through its parent. */
  person?: { by: string[]; left?: Reasons }
  /** Of neither, with the reason. */
  neither?: string
}

const key = 'identifies the row, and is named nowhere else'
const secret = 'a secret, or the digest of one'
const derived = 'made from other columns that are exported'
const state = 'state of the service: how far its work is'
const inWorkspace = 'the export is of one workspace'
const ofPerson = 'the export is of one person'
const ofInbox = 'the inbox of a person, whose export has it'
const ofWorkspace = 'of the workspace, whose export has it'
const ofDelivery = 'how the service sent a mail, without its text; for operators, and deleted after 30 days'
const shortLived = 'ends within hours, and is deleted then'
const ofImport =
  'how far an import of a table is: its seeds are exported, who made it is in the event, and it is deleted after 30 days'
const untilUndone = 'how to undo a merge, for 14 days'
const byName = 'the agent is exported by its name'
const forAgent = 'shown with the agent for some weeks, and deleted then'

const secretsOfClients = {
  ...{ former_secret_hash: secret, former_secret_until: secret },
  ...{ shown_to_user_id: secret, former_shown_to_user_id: secret },
}

const declared: Record<string, Declared> = {
  workspaces: {
    workspace: {
      icon_key: 'a picture, not text',
      deleted_at: state,
      exported_until: state,
    },
    person: { by: ['creator_user_id'], left: { '*': ofWorkspace } },
  },
  workspace_slugs: { workspace: { '*': 'former slugs, which end by themselves after 90 days' } },
  users: {
    person: {
      by: ['id'],
      left: {
        ...{ canonical_email: derived, search_text: derived, first_signed_in_at: state },
        suspended_at: state,
        kind: 'a service account has no account to export',
      },
    },
  },
  passwords: {
    person: { by: ['user_id'], left: { '*': secret } },
  },
  sessions: {
    person: {
      by: ['user_id'],
      left: {
        id: key,
        user_id: ofPerson,
        token_hash: secret,
        expires_at: state,
        proven_at: state,
        renewals: state,
      },
    },
  },
  ended_sessions: { person: { by: ['user_id'], left: { '*': shortLived } } },
  known_browsers: { person: { by: ['user_id'], left: { '*': secret } } },
  account_tokens: { person: { by: ['user_id'], left: { '*': shortLived } } },
  identities: { person: { by: ['user_id'], left: { user_id: ofPerson } } },
  email_changes: { person: { by: ['user_id'], left: { '*': shortLived } } },
  former_emails: {
    person: { by: ['user_id'], left: { user_id: ofPerson, canonical_email: derived, token_hash: secret } },
  },
  agent_grants: {
    workspace: { workspace_id: inWorkspace, consent_version: state, may_return: state, ...secretsOfClients },
    person: {
      by: ['user_id', 'shown_to_user_id', 'former_shown_to_user_id'],
      left: { user_id: ofPerson, consent_version: state, may_return: state, ...secretsOfClients },
    },
  },
  agent_policies: { workspace: { workspace_id: inWorkspace, consent_version: state } },
  agent_requests: {
    workspace: { workspace_id: inWorkspace, is_untold: state },
    person: {
      by: ['asked_by_user_id', 'for_user_id'],
      left: {
        ...{ asked_by_user_id: ofPerson, workspace_id: ofWorkspace, grant_id: byName, for_user_id: byName },
        ...{ answer_comment_id: ofWorkspace, expires_at: derived, is_untold: state },
      },
    },
  },
  agent_calls: { workspace: { '*': forAgent }, person: { by: [], left: { '*': forAgent } } },
  agent_call_log: { workspace: { '*': forAgent }, person: { by: [], left: { '*': forAgent } } },
  agent_grant_places: {
    workspace: { '*': 'where a person uses an agent is shown to nobody else' },
    person: { by: [], left: { '*': forAgent } },
  },
  api_keys: {
    person: {
      by: ['user_id', 'shown_to_user_id'],
      left: {
        ...{ user_id: ofPerson, secret_hash: secret, expiry_notice_at: state },
        shown_to_user_id: 'of the keys of service accounts, which are not of the person',
      },
    },
  },
  service_accounts: {
    workspace: { workspace_id: inWorkspace, deleted_at: 'deleted ones are in the events' },
    person: { by: ['user_id', 'created_by_user_id'], left: { '*': ofWorkspace } },
  },
  comments: {
    workspace: { workspace_id: inWorkspace, grant_id: byName },
    person: {
      by: ['author_user_id'],
      left: { grant_id: byName, workspace_id: ofWorkspace, author_user_id: ofPerson, author_name: ofPerson },
    },
  },
  attachments: {
    workspace: {
      ...{
        workspace_id: inWorkspace,
        key: 'where the file is stored',
        thumbnail_key: 'where the file is stored',
      },
      ...{ text: 'the beginning of the file', position: 'the order of the files' },
    },
    person: {
      by: ['created_by_user_id'],
      left: {
        ...{ created_by_user_id: ofPerson, width: derived, height: derived, text: derived },
        ...{ key: ofWorkspace, thumbnail_key: ofWorkspace, position: ofWorkspace },
      },
    },
  },
  workspace_storage: { workspace: { '*': derived } },
  comment_mentions: {
    workspace: { '*': derived },
    person: { by: ['user_id'], left: { '*': 'in the notification of it' } },
  },
  departures: {
    workspace: { '*': 'in the event of it' },
    person: { by: ['user_id'], left: { '*': ofWorkspace } },
  },
  events: {
    workspace: {
      ...{ workspace_id: inWorkspace, seed_id: derived, readers: derived },
      position: 'the order of the lines',
    },
    person: {
      by: ['actor_user_id'],
      left: {
        ...{ actor_type: ofPerson, actor_user_id: ofPerson, actor_name: ofPerson, data: derived },
        ...{ position: state, seed_id: derived, readers: derived },
        ...{
          grant_id: ofWorkspace,
          api_key_id: ofWorkspace,
          target_type: ofWorkspace,
          target_id: ofWorkspace,
        },
      },
    },
  },
  event_positions: { workspace: { '*': state } },
  idempotent_requests: { person: { by: [], left: { '*': shortLived } } },
  invites: {
    workspace: {
      ...{ workspace_id: inWorkspace, canonical_email: derived, search_text: derived },
      ...{ resent_at: state, refused_at: state },
    },
    person: {
      by: ['invited_by_user_id', 'canonical_email'],
      left: {
        ...{ canonical_email: derived, search_text: derived, invited_by_user_id: ofPerson },
        ...{ state: ofWorkspace, expires_at: ofWorkspace, last_sent_at: ofWorkspace },
        ...{ resent_at: ofWorkspace, refused_at: ofWorkspace },
      },
    },
  },
  invite_tokens: { workspace: { '*': secret }, person: { by: [], left: { '*': secret } } },
  invite_teams: { workspace: { workspace_id: inWorkspace }, person: { by: [], left: { '*': ofWorkspace } } },
  workspace_allowances: {
    workspace: { '*': shortLived },
    person: { by: ['user_id'], left: { '*': shortLived } },
  },
  leavings: { person: { by: ['user_id'], left: { '*': shortLived } } },
  memberships: {
    workspace: {
      workspace_id: inWorkspace,
      last_used_at: 'when a person was there is shown to nobody else',
      last_activity_at: 'follows from the events',
    },
    person: {
      by: ['user_id'],
      left: {
        user_id: ofPerson,
        workspace_id: derived,
        last_used_at: state,
        last_activity_at: 'follows from the events',
      },
    },
  },
  notifications: {
    workspace: { '*': ofInbox },
    person: {
      by: ['user_id', 'actor_user_id'],
      left: {
        ...{ user_id: ofPerson, comment_id: ofWorkspace, agent_name: ofWorkspace, data: ofWorkspace },
        ...{ actor_user_id: 'of others', actor_name: 'of others', mailed_at: state },
      },
    },
  },
  notification_digests: { person: { by: ['user_id'], left: { '*': state } } },
  oauth_records: { neither: 'tokens and codes of clients, by digests: what they give is in agent_grants' },
  oauth_documents: { neither: 'what clients publish on the Internet' },
  signing_keys: { neither: 'keys of the installation' },
  passkeys: {
    person: {
      by: ['user_id'],
      left: {
        ...{ id: key, user_id: ofPerson, credential_id: secret, public_key: secret },
        ...{ sign_count: state, transports: state },
      },
    },
  },
  used_challenges: { neither: 'digests of random numbers' },
  pictures: { neither: 'files by random names: users and workspaces name theirs' },
  search_entries: { workspace: { '*': derived } },
  authenticator_apps: { person: { by: ['user_id'], left: { '*': secret } } },
  recovery_codes: { person: { by: ['user_id'], left: { '*': secret } } },
  pending_sign_ins: { person: { by: ['user_id'], left: { '*': shortLived } } },
  seeds: {
    workspace: {
      ...{ workspace_id: inWorkspace, grant_id: byName, deleted_at: 'deleted seeds are left out' },
      reminded_for: state,
      ...{ supports_count: derived, contradicts_count: derived, neutral_count: derived },
      ...{ comment_count: derived, participant_count: derived },
      ...{ last_evidence_at: derived, last_comment_at: derived, activity_at: derived },
    },
    person: {
      by: ['created_by_user_id', 'lead_user_id', 'status_changed_by_user_id', 'merged_by_user_id'],
      left: {
        merged_by_user_id: ofPerson,
        ...{ status_changed_by_user_id: ofPerson, status_changed_by_name: ofPerson },
        ...{ created_by_user_id: ofPerson, lead_user_id: ofWorkspace, agent_name: ofWorkspace },
        ...{ grant_id: byName, updated_at: ofWorkspace, deleted_at: 'deleted seeds are left out' },
        reminded_for: state,
        ...{ supports_count: ofWorkspace, contradicts_count: ofWorkspace, neutral_count: ofWorkspace },
        ...{ team_id: ofWorkspace, label_ids: ofWorkspace },
        ...{ comment_count: ofWorkspace, participant_count: ofWorkspace },
        ...{ last_evidence_at: ofWorkspace, last_comment_at: ofWorkspace, activity_at: ofWorkspace },
      },
    },
  },
  seed_imports: {
    workspace: { '*': ofImport },
    person: { by: ['created_by_user_id', 'undone_by_user_id'], left: { '*': ofImport } },
  },
  seed_import_slices: { workspace: { '*': ofImport }, person: { by: [], left: { '*': ofImport } } },
  seed_moves: { workspace: { '*': untilUndone }, person: { by: [], left: { '*': untilUndone } } },
  seed_participants: {
    workspace: { workspace_id: inWorkspace },
    person: { by: ['user_id'], left: { user_id: ofPerson, workspace_id: ofWorkspace } },
  },
  seed_followers: {
    workspace: { '*': 'whom a person follows is shown to nobody else' },
    person: { by: ['user_id'], left: { user_id: ofPerson, workspace_id: ofWorkspace } },
  },
  evidence_seen: {
    workspace: { workspace_id: inWorkspace },
    person: { by: ['user_id'], left: { user_id: ofPerson, workspace_id: ofWorkspace } },
  },
  evidence: {
    workspace: {
      workspace_id: inWorkspace,
      seen_by_count: derived,
      withdrawn_by_user_id: 'their name is exported, as responses have it',
    },
    person: {
      by: ['author_user_id', 'withdrawn_by_user_id'],
      left: {
        seen_by_count: ofWorkspace,
        ...{ workspace_id: ofWorkspace, author_user_id: ofPerson, author_name: ofPerson },
        ...{
          withdrawn_by_user_id: 'of others',
          withdrawn_by_name: 'of others',
          withdrawn_reason: 'of others',
        },
      },
    },
  },
  teams: { workspace: { workspace_id: inWorkspace } },
  labels: { workspace: { workspace_id: inWorkspace } },
  saved_filters: {
    workspace: { workspace_id: inWorkspace, owner_user_id: 'those of one person are in their export' },
    person: { by: ['owner_user_id', 'shared_by_user_id'], left: { shared_by_user_id: ofPerson } },
  },
  team_members: {
    workspace: { workspace_id: inWorkspace },
    person: { by: ['user_id'], left: { user_id: ofPerson, team_id: derived } },
  },
  webhooks: {
    workspace: {
      ...{ workspace_id: inWorkspace, deleted_at: 'deleted webhooks are left out' },
      ...{ sealed_secret: secret, previous_sealed_secret: secret, previous_secret_until: secret },
      ...{ disabled_reason: state, last_delivery_at: state, last_failure_at: state, failing_since: state },
      ...{ slowed_count: state, paused_until: state, pause_reason: state, secret_created_at: state },
      shown_to_user_id: secret,
    },
    person: { by: ['shown_to_user_id'], left: { '*': ofWorkspace } },
  },
  webhook_former_secrets: {
    workspace: { '*': secret },
    person: { by: ['shown_to_user_id'], left: { '*': ofWorkspace } },
  },
  webhook_deliveries: { workspace: { '*': state } },
  mails: {
    workspace: { '*': ofDelivery },
    person: { by: ['user_id'], left: { '*': ofDelivery } },
  },
  flashes: { person: { by: ['user_id'], left: { '*': shortLived } } },
  sent_forms: { person: { by: [], left: { '*': shortLived } } },
}

const folder = new URL('../../src/db/schema/', import.meta.url)
const files = (await readdir(folder)).filter((name) => name.endsWith('.ts'))
const modules = await Promise.all(
  files.map((file) => import(new URL(file, folder).href) as Promise<Record<string, unknown>>),
)
const tables = new Map(
  modules
    .flatMap((module) => Object.values(module))
    .filter((value) => is(value, PgTable))
    .map((table) => {
      const { name, columns, foreignKeys } = getTableConfig(table)
      const parents = foreignKeys.map((foreign) => getTableConfig(foreign.reference().foreignTable).name)
      return [name, { columns: columns.map((column) => column.name), parents }] as const
    }),
)

const id = '00000000-0000-7000-8000-000000000000'
const person = { id, email: 'ada@example.com', workspaceIds: [] }
const profileColumns = { image: 'image_key' } as Record<string, string>
const exported = {
  workspace: columnsIn([...Object.values(sourcesOf(id)), ...Object.values(sourcesOfSeeds([id]))]),
  person: new Set([
    ...columnsIn(Object.values(sourcesOfPerson(person))),
    // The profile is not read as rows; me.export.test.ts compares it with its schema.
    ...Object.keys(PersonExport.properties.profile.properties).map(
      (name) =>
        `users.${profileColumns[name] ?? name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`,
    ),
  ]),
}

it('docs/operations.md says of each table how long its rows are kept', async () => {
  const text = await readFile('docs/operations.md', 'utf8')
  const rows = text
    .slice(text.indexOf('| how long rows are kept'))
    .split(/\n\n/, 1)
    .join()
    .split('\n')
    .slice(2)
  const named = rows.flatMap((row) => (row.split('|')[1] ?? '').match(/(?<=`)\w+(?=`)/g) ?? [])
  expect(named.toSorted()).toEqual([...tables.keys()].toSorted())
})

/** The names `table.column` of what sources export, also inside of expressions. */
function columnsIn(sources: readonly { columns: object }[]): Set<string> {
  const names = new Set<string>()
  const visit = (value: unknown): void => {
    if (is(value, Column)) names.add(`${getTableName(value.table)}.${value.name}`)
    else if (is(value, SQL)) value.queryChunks.forEach(visit)
  }
  for (const { columns } of sources) Object.values(columns).forEach(visit)
  return names
}

/** Whether a table belongs to a root: by a column that names it, or through its parent. */
function isOf(table: string, root: string, namesRoot: (column: string) => boolean): boolean {
  const { columns = [], parents = [] } = tables.get(table) ?? {}
  return (
    table === root ||
    columns.some(namesRoot) ||
    parents.some((parent) => parent !== table && parent !== root && isOf(parent, root, namesRoot))
  )
}

const namesWorkspace = (column: string) => column === 'workspace_id'
const namesPerson = (column: string) => /(^|_)user_id$/.test(column)

it('every table is declared, and no other', () => {
  expect(Object.keys(declared).toSorted()).toEqual([...tables.keys()].toSorted())
})

describe.each(Object.entries(declared))('%s', (table, { workspace, person, neither }) => {
  const { columns = [] } = tables.get(table) ?? {}

  it('is declared as what it is of', () => {
    if (neither !== undefined) expect([workspace, person]).toEqual([undefined, undefined])
    if (neither === undefined) expect(workspace ?? person).toBeDefined()
    if (isOf(table, 'workspaces', namesWorkspace)) expect(workspace, 'of a workspace').toBeDefined()
    for (const column of columns.filter(namesPerson)) expect(person?.by, 'of a person').toContain(column)
    for (const column of person?.by ?? []) expect(columns).toContain(column)
  })

  const exports = [
    ['workspace', workspace],
    ['person', person && (person.left ?? {})],
  ] as const
  it('each column is in the export or has a reason', () => {
    for (const [of, left] of exports) expectReasons(of, left)
    if (neither !== undefined) expect(neither).not.toBe('')
  })

  function expectReasons(of: 'workspace' | 'person', left: Reasons | undefined) {
    if (!left) return
    const missing = columns.filter(
      (column) =>
        !exported[of].has(`${table}.${column}`) && left[column] === undefined && left['*'] === undefined,
    )
    expect(missing, `columns of ${table} that are neither exported nor left out for a reason`).toEqual([])
    // A reason for what is exported, or is no column, is out of date.
    const needless = Object.keys(left).filter((name) =>
      name === '*'
        ? columns.every((column) => exported[of].has(`${table}.${column}`))
        : !columns.includes(name) || exported[of].has(`${table}.${name}`),
    )
    expect(needless, `reasons for columns of ${table}`).toEqual([])
  }
})
