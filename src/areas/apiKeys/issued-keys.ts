import type { Executor } from '../../db/client.ts'
import { overlapSecondsDefault, type KeyRestrictions } from '../../domain/key-restrictions.ts'
import type { Role } from '../../domain/roles.ts'
import { errors } from '../../kernel/errors.ts'
import { createId } from '../../kernel/ids.ts'
import { createApiKeySecret, hashSecret } from '../../kernel/tokens.ts'
import { countActiveApiKeys, endRotatedApiKey, insertApiKey, type ApiKeyRow } from './apiKeys.repository.ts'
import type { ApiKey, ApiKeyRestrictions, CreatedApiKey } from './apiKeys.schemas.ts'

// What is the same for the keys of people and those of service accounts.

const msPerDay = 24 * 60 * 60 * 1000

/** The most active keys that one user may have. */
export const activeApiKeysMax = 100

/** How long before the end of a key its owner is told. */
const expiryNoticeMs = 7 * msPerDay

/** A key together with its restrictions. */
export interface RestrictedApiKey extends ApiKey, ApiKeyRestrictions {
  /** Whether another key took its place. */
  isRotated: boolean
}

/** The restrictions that a key is to have. A key can also expire in some days from now. */
export type RestrictionsInput = Omit<ApiKeyRestrictions, 'expiresAt' | 'maxRole'> & {
  expiresAt: string | null | { days: number }
  /** Absent: as before, which for a new key is null. */
  maxRole?: Role | null
}

/** Creates a key in a transaction that has locked what keeps others from creating keys of the same user. Throws `api_key_limit`. */
export async function issueApiKey(
  tx: Executor,
  input: {
    userId: string
    /** Who is shown the secret, if that is not the owner. */
    shownToUserId?: string
    name: string
    restrictions: KeyRestrictions
    /** What the secret begins with. */
    prefix: string
    now: Date
  },
): Promise<CreatedApiKey> {
  const { userId, shownToUserId, name, restrictions, prefix, now } = input
  if ((await countActiveApiKeys(tx, { userId, now })) >= activeApiKeysMax) throw errors.apiKeyLimit()
  const { secret, ...shown } = createApiKeySecret(prefix)
  const key = { id: createId(), name, ...shown }
  const columns = toColumns(restrictions, now)
  await insertApiKey(tx, {
    ...key,
    ...columns,
    userId,
    // Only people are told that their keys expire.
    ...(shownToUserId !== undefined && { shownToUserId, expiryNoticeAt: null }),
    secretHash: hashSecret(secret),
    createdAt: now,
  })
  return { ...key, secret }
}

/** Ends a key, which another one takes the place of, after the overlap. Throws `key_rotated`. */
export async function endForRotation(
  tx: Executor,
  { id, expiresAt, rotatedAt }: ApiKeyRow,
  { overlapSeconds = overlapSecondsDefault, now }: { overlapSeconds?: number | undefined; now: Date },
): Promise<void> {
  if (rotatedAt !== null) throw errors.keyRotated()
  const overlapEnd = new Date(now.getTime() + overlapSeconds * 1000)
  await endRotatedApiKey(tx, id, {
    rotatedAt: now,
    ...(overlapSeconds === 0
      ? { revokedAt: now }
      : { expiresAt: expiresAt !== null && expiresAt < overlapEnd ? expiresAt : overlapEnd }),
  })
}

/** The restrictions as they are compared and stored. Throws `expiry_in_past`. */
export function parseRestrictions(
  { expiresAt, access, workspaceIds, maxRole = null }: RestrictionsInput,
  now: Date,
): KeyRestrictions {
  const end =
    typeof expiresAt === 'string'
      ? new Date(expiresAt)
      : expiresAt && new Date(now.getTime() + expiresAt.days * msPerDay)
  if (end !== null && end <= now) throw errors.expiryInPast({ field: 'expiresAt' })
  return { expiresAt: end, access, workspaceIds: workspaceIds && [...new Set(workspaceIds)], maxRole }
}

/** The restrictions of a key as they are stored. Nobody is told of the end of a key that has less than a week left. */
export function toColumns({ expiresAt, access, workspaceIds, maxRole }: KeyRestrictions, now: Date) {
  const noticeAt = expiresAt && new Date(expiresAt.getTime() - expiryNoticeMs)
  return {
    expiresAt,
    access,
    workspaceIds: workspaceIds && [...workspaceIds],
    maxRole,
    expiryNoticeAt: noticeAt && noticeAt > now ? noticeAt : null,
  }
}

/** A key as the service returns it. */
export function toRestrictedApiKey({ rotatedAt, ...row }: ApiKeyRow): RestrictedApiKey {
  return {
    ...row,
    createdAt: row.createdAt.toISOString(),
    lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
    expiresAt: row.expiresAt?.toISOString() ?? null,
    isRotated: rotatedAt !== null,
  }
}

/** A key as lists have it. */
export function toApiKey({
  id,
  name,
  tokenPrefix,
  lastFour,
  createdAt,
  lastUsedAt,
}: RestrictedApiKey): ApiKey {
  return { id, name, tokenPrefix, lastFour, createdAt, lastUsedAt }
}
