import type { ChangeContext } from '../../access/change.ts'
import type { Principal } from '../../domain/principal.ts'
import { createId } from '../../kernel/ids.ts'
import { insertFollowers } from './followers.repository.ts'
import { insertParticipant } from './participants.repository.ts'
import { parseNewTexts, type SeedInput } from './seed-texts.ts'
import { insertSeed, type SeedFields } from './seeds.repository.ts'

/** A seed that is about to be inserted. */
export interface NewSeedFields extends SeedFields {
  id: string
  createdByUserId: string
  agentName: string | null
}

/**
 * A new open seed of texts, of the caller, who leads it unless it is a service account. Throws `text_invalid`,
 * `criteria_twice` and `criterion_not_found`.
 */
export function prepareSeed(
  principal: Pick<Principal, 'agentName' | 'isService'> & { user: { id: string } },
  input: SeedInput,
  { teamId = null, labelIds = [] }: { teamId?: string | null; labelIds?: string[] } = {},
): NewSeedFields {
  const { user, agentName = null, isService = false } = principal
  return {
    id: createId(),
    ...parseNewTexts(input),
    status: 'open',
    teamId,
    labelIds,
    createdByUserId: user.id,
    leadUserId: isService ? null : user.id,
    agentName,
  }
}

/** Inserts a seed. Its creator takes part in it and follows it. */
export function writeSeed(
  { now, write }: Pick<ChangeContext<never>, 'now' | 'write'>,
  fields: NewSeedFields,
  { workspaceId, grantId }: { workspaceId: string; grantId: string | null },
): void {
  const place = { seedId: fields.id, workspaceId }
  const userId = fields.createdByUserId
  const row = { ...fields, createdAt: now, updatedAt: now, grantId, workspaceId }
  write((executor) => insertSeed(executor, row))
  write((executor) => insertParticipant(executor, { ...place, userId, joinedAt: now }))
  write((executor) => insertFollowers(executor, place, [userId]))
}
