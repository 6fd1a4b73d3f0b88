import { lockMembersWithCredential, type Changes, type WorkspaceChangeContext } from '../../access/change.ts'
import { requireLiveCredential } from '../../access/live-credential.repository.ts'
import { insertMemberIfNew, updateMemberRole } from '../../access/memberships.repository.ts'
import type { WorkspaceAction } from '../../access/permissions.ts'
import type { RequireWorkspace } from '../../access/workspace-access.ts'
import type { Database, Executor } from '../../db/client.ts'
import {
  isWithin,
  unrestricted,
  type KeyAccess,
  type KeyRestrictions,
} from '../../domain/key-restrictions.ts'
import type { ExpectingCall, Principal } from '../../domain/principal.ts'
import { isAbove, lowerOf, mayGrant, type Role } from '../../domain/roles.ts'
import { emailOfService, serviceAccountsMax, type ServiceRole } from '../../domain/service-accounts.ts'
import type { Clock } from '../../kernel/clock.ts'
import { errors } from '../../kernel/errors.ts'
import { createId, isId } from '../../kernel/ids.ts'
import { requireLabel } from '../../kernel/text.ts'
import { assertExpected, versionOfFields } from '../../kernel/versions.ts'
import { insertUser } from '../../users/users.repository.ts'
import {
  findActiveApiKey,
  listActiveApiKeys,
  revokeApiKeyOfUser,
  revokeApiKeysOfUser,
} from '../apiKeys/apiKeys.repository.ts'
import type { ApiKey, CreatedApiKey } from '../apiKeys/apiKeys.schemas.ts'
import {
  endForRotation,
  issueApiKey,
  parseRestrictions,
  toApiKey,
  toRestrictedApiKey,
  type RestrictedApiKey,
} from '../apiKeys/issued-keys.ts'
import { deleteMember } from '../members/members.repository.ts'
import {
  countServiceAccounts,
  deleteClientsOfService,
  findServiceAccount,
  insertServiceAccount,
  listServiceAccounts,
  markServiceAccountDeleted,
  renameServiceUser,
  type ServiceAccountRow,
} from './serviceAccounts.repository.ts'
import type { ServiceAccount } from './serviceAccounts.schemas.ts'

export type { ServiceAccount }

/** Where a service account is. */
export interface ServiceAccountPath {
  slug: string
  serviceAccountId: string
}

/** Where one of its keys is. */
export interface ServiceKeyPath extends ServiceAccountPath {
  apiKeyId: string
}

/** What a key of a service account may do. It is always bound to the workspace. */
export interface ServiceKeyInput {
  name: string
  expiresAt?: string | null | { days: number }
  access?: KeyAccess
  maxRole?: Role | null
}

/**
 * Service accounts: members of a workspace for programs, without sign-in. Owners and admins manage those whose role is at
 * most their own: `role_too_high`. `not_found` for an account or a key that does not exist.
 */
export interface ServiceAccountsService {
  /** Oldest first. */
  list(principal: Principal, slug: string): Promise<ServiceAccount[]>
  get(principal: Principal, path: ServiceAccountPath): Promise<ServiceAccount>
  /** Throws `label_invalid`, `role_too_high` and `service_account_limit`. */
  create(
    principal: Principal,
    slug: string,
    input: { name: string; role: ServiceRole },
  ): Promise<ServiceAccount>
  /**
   * Changes what is given. Throws `label_invalid`, `role_too_high`, `precondition_failed`, and `key_restricted` for a key that
   * makes no endless key with the new role.
   */
  update(
    principal: ExpectingCall,
    path: ServiceAccountPath,
    input: { name?: string; role?: ServiceRole },
  ): Promise<void>
  /** Also revokes its keys and its OAuth clients. Returns its name. */
  delete(principal: Principal, path: ServiceAccountPath): Promise<string>
  /** Its active keys, newest first. */
  listKeys(principal: Principal, path: ServiceAccountPath): Promise<ApiKey[]>
  /** As `listKeys`, with the restrictions of each. */
  listRestrictedKeys(principal: Principal, path: ServiceAccountPath): Promise<RestrictedApiKey[]>
  /** Throws `label_invalid`, `expiry_in_past`, `api_key_limit`, and `key_restricted` by a key that may do less. */
  createKey(principal: Principal, path: ServiceAccountPath, input: ServiceKeyInput): Promise<CreatedApiKey>
  /** Throws `key_rotated`, `api_key_limit`, and `key_restricted` by a key that may do less. */
  rotateKey(
    principal: Principal,
    path: ServiceKeyPath,
    input: { overlapSeconds?: number },
  ): Promise<CreatedApiKey>
  /** Idempotent. Returns the name of the key. */
  revokeKey(principal: Principal, path: ServiceKeyPath): Promise<string>
}

/** The version of a service account: of what `update` changes. */
export const versionOfServiceAccount = (account: Pick<ServiceAccount, 'name' | 'role'>) =>
  versionOfFields(account, ['name', 'role'])

export interface ServiceAccountsServiceOptions {
  db: Database
  clock: Clock
  changes: Changes
  requireWorkspace: RequireWorkspace
  /** The prefix of new keys. */
  apiKeyPrefix: string
}

export function createServiceAccountsService(options: ServiceAccountsServiceOptions): ServiceAccountsService {
  const { db, clock, changes, requireWorkspace, apiKeyPrefix } = options

  async function find(executor: Executor, workspaceId: string, id: string): Promise<ServiceAccountRow> {
    const account = isId(id) ? await findServiceAccount(executor, { workspaceId, id }) : undefined
    if (!account) throw errors.notFound()
    return account
  }

  async function read(
    principal: Principal,
    { slug, serviceAccountId }: ServiceAccountPath,
    action: WorkspaceAction,
  ) {
    const workspace = await requireWorkspace(principal, slug, action)
    return find(db, workspace.id, serviceAccountId)
  }

  async function listKeys(principal: Principal, path: ServiceAccountPath): Promise<RestrictedApiKey[]> {
    const { userId } = await read(principal, path, 'serviceAccounts.listKeys')
    return (await listActiveApiKeys(db, { userId, now: clock.now() })).map(toRestrictedApiKey)
  }

  /** Changes a service account that the caller may manage, while the members of the workspace are locked. */
  async function change<Result>(
    principal: Principal,
    { slug, serviceAccountId }: ServiceAccountPath,
    action: WorkspaceAction,
    run: (context: WorkspaceChangeContext, managed: Managed) => Promise<Result>,
  ): Promise<Result> {
    const workspace = await requireWorkspace(principal, slug, action)
    return changes.makeIn(principal, workspace, lockMembersWithCredential, async (context, actorRole) => {
      const account = await find(context.tx, workspace.id, serviceAccountId)
      if (!mayGrant(actorRole, account.role)) throw errors.roleTooHigh()
      return run(context, {
        account,
        workspaceId: workspace.id,
        mayGive: (role) => mayGrant(actorRole, role),
      })
    })
  }

  /** Throws `key_restricted` if the key of the request may do less than a key that it would be shown. */
  async function assertWithin(
    tx: Executor,
    principal: Principal,
    { account, restrictions }: { account: ServiceAccountRow; restrictions: KeyRestrictions },
  ): Promise<void> {
    const own = (await requireLiveCredential(tx, principal, clock.now())) ?? unrestricted
    const maxRole = lowerOf(account.role, restrictions.maxRole ?? account.role)
    if (!isWithin({ ...restrictions, maxRole }, own)) throw errors.keyRestricted()
  }

  return {
    async list(principal, slug) {
      const workspace = await requireWorkspace(principal, slug, 'serviceAccounts.list')
      return (await listServiceAccounts(db, workspace.id)).map(toServiceAccount)
    },

    async get(principal, path) {
      return toServiceAccount(await read(principal, path, 'serviceAccounts.get'))
    },

    async create(principal, slug, input) {
      const workspace = await requireWorkspace(principal, slug, 'serviceAccounts.create')
      const [id, userId] = [createId(), createId()]
      const { role } = input
      const name = requireLabel(input.name)
      return changes.makeIn(
        principal,
        workspace,
        lockMembersWithCredential,
        async ({ tx, now, appendEvent }, actorRole) => {
          const { id: workspaceId } = workspace
          if (!mayGrant(actorRole, role)) throw errors.roleTooHigh()
          if ((await countServiceAccounts(tx, workspaceId)) >= serviceAccountsMax)
            throw errors.serviceAccountLimit()
          const email = emailOfService(id)
          await insertUser(tx, { id: userId, kind: 'service', email, name, ...withoutMail, createdAt: now })
          await insertMemberIfNew(tx, { workspaceId, userId, role, joinedAt: now, lastUsedAt: now })
          const made = { id, userId, createdByUserId: principal.user.id, createdAt: now }
          await insertServiceAccount(tx, { workspaceId, ...made })
          // Copies of the members follow the events of members, which everybody may see.
          appendEvent({
            type: 'member.joined',
            data: { userId, name, role, kind: 'service', ...withoutInvite },
          })
          const account = { ...made, name, role }
          appendEvent({ type: 'service_account.created', data: { ...dataOf(account), role } })
          return toServiceAccount({ ...account, createdByName: principal.user.name, lastUsedAt: null })
        },
      )
    },

    async update(principal, path, input) {
      const name = input.name === undefined ? undefined : requireLabel(input.name)
      await change(
        principal,
        path,
        'serviceAccounts.update',
        async ({ tx, appendEvent }, { account, workspaceId, mayGive }) => {
          const { userId } = account
          const role = input.role ?? account.role
          if (!mayGive(role)) throw errors.roleTooHigh()
          assertExpected(principal, versionOfServiceAccount(account))
          principal.onVersion?.(versionOfServiceAccount({ name: name ?? account.name, role }))
          const isRenamed = name !== undefined && name !== account.name
          const isRoleChanged = role !== account.role
          if (isRenamed) {
            await renameServiceUser(tx, { userId, name })
            appendEvent({ type: 'member.updated', data: { userId, fields: ['name'], kind: 'service' } })
          }
          const changed = { ...account, name: isRenamed ? name : account.name, role }
          // Its keys may be endless, and then act with the new role.
          if (isAbove(role, account.role)) {
            const restrictions = { ...unrestricted, workspaceIds: [workspaceId] }
            await assertWithin(tx, principal, { account: changed, restrictions })
          }
          if (isRoleChanged) {
            await updateMemberRole(tx, { workspaceId, userId, role })
            appendEvent({
              type: 'member.role_changed',
              data: { userId, name: changed.name, from: account.role, to: role },
            })
          }
          if (!isRenamed && !isRoleChanged) return
          const fields = [
            ...(isRenamed ? (['name'] as const) : []),
            ...(isRoleChanged ? (['role'] as const) : []),
          ]
          appendEvent({ type: 'service_account.updated', data: { ...dataOf(changed), role, fields } })
        },
      )
    },

    async delete(principal, path) {
      return change(
        principal,
        path,
        'serviceAccounts.delete',
        async ({ tx, now, appendEvent }, { account, workspaceId }) => {
          const { id, userId, name } = account
          await revokeApiKeysOfUser(tx, { userId, revokedAt: now })
          await deleteClientsOfService(tx, { workspaceId, userId })
          await deleteMember(tx, workspaceId, userId)
          await markServiceAccountDeleted(tx, { workspaceId, id, now })
          appendEvent({ type: 'member.removed', data: { userId, name, reason: 'removed' } })
          appendEvent({ type: 'service_account.deleted', data: dataOf(account) })
          return name
        },
      )
    },

    listRestrictedKeys: listKeys,

    listKeys: async (principal, path) => (await listKeys(principal, path)).map(toApiKey),

    async createKey(principal, path, { name: text, expiresAt = null, access = 'full', maxRole = null }) {
      const name = requireLabel(text)
      return change(
        principal,
        path,
        'serviceAccounts.createKey',
        async ({ tx, now, appendEvent }, { account, workspaceId }) => {
          const bound = { workspaceIds: [workspaceId], maxRole }
          const restrictions = parseRestrictions({ expiresAt, access, ...bound }, now)
          await assertWithin(tx, principal, { account, restrictions })
          const { userId } = account
          const key = await issueApiKey(tx, {
            ...{ userId, name, restrictions, now },
            shownToUserId: principal.user.id,
            prefix: apiKeyPrefix,
          })
          appendEvent({
            type: 'service_account.key_created',
            data: { ...dataOf(account), ...keyDataOf(key) },
          })
          return key
        },
      )
    },

    async rotateKey(principal, path, { overlapSeconds }) {
      const { apiKeyId } = path
      return change(
        principal,
        path,
        'serviceAccounts.rotateKey',
        async ({ tx, now, appendEvent }, { account }) => {
          const { userId } = account
          const old = isId(apiKeyId) ? await findActiveApiKey(tx, { id: apiKeyId, userId, now }) : undefined
          if (!old) throw errors.notFound()
          await assertWithin(tx, principal, { account, restrictions: old })
          await endForRotation(tx, old, { overlapSeconds, now })
          const key = await issueApiKey(tx, {
            ...{ userId, name: old.name, restrictions: old, now },
            shownToUserId: principal.user.id,
            prefix: apiKeyPrefix,
          })
          appendEvent({
            type: 'service_account.key_rotated',
            data: { ...dataOf(account), ...keyDataOf(key), rotatedApiKeyId: old.id },
          })
          return key
        },
      )
    },

    async revokeKey(principal, path) {
      const { apiKeyId: id } = path
      return change(
        principal,
        path,
        'serviceAccounts.revokeKey',
        async ({ tx, now, appendEvent }, { account }) => {
          const { userId } = account
          const isActive = isId(id) && (await findActiveApiKey(tx, { id, userId, now })) !== undefined
          const name = isId(id) ? await revokeApiKeyOfUser(tx, { id, userId, revokedAt: now }) : undefined
          if (name === undefined) throw errors.notFound()
          if (isActive)
            appendEvent({
              type: 'service_account.key_revoked',
              data: { ...dataOf(account), ...keyDataOf({ id, name }) },
            })
          return name
        },
      )
    },
  }
}

/** A service account that the caller may manage, and which roles they may give it. */
interface Managed {
  account: ServiceAccountRow
  workspaceId: string
  mayGive: (role: ServiceRole) => boolean
}

// Its address is none, and the service refuses it; this keeps jobs from trying.
const withoutMail = { productUpdates: false, workspaceActivity: false, notifyDigest: false }

const withoutInvite = {
  ...{ inviteId: null, invitedByUserId: null, invitedByName: null },
  ...{ domain: null, teamIds: [] },
}

function dataOf({ id, userId, name }: Pick<ServiceAccountRow, 'id' | 'userId' | 'name'>) {
  return { serviceAccountId: id, userId, name }
}

function keyDataOf({ id, name }: { id: string; name: string }) {
  return { apiKeyId: id, keyName: name }
}

function toServiceAccount({ createdAt, lastUsedAt, ...row }: ServiceAccountRow): ServiceAccount {
  return { ...row, createdAt: createdAt.toISOString(), lastUsedAt: lastUsedAt?.toISOString() ?? null }
}
