import { agentRequestStates } from '../../../domain/agent-requests.ts'
import { Type, type Static } from '@sinclair/typebox'
import { Role } from '../../../domain/roles.ts'
import { userKinds } from '../../../domain/service-accounts.ts'
import { closed, nullableString, ref, stringEnum, Timestamp } from '../../../kernel/schemas.ts'
import { evidenceKinds, seedStatuses, verdicts } from '../../../domain/seeds.ts'
import { storedEventFields } from '../../events/events.schemas.ts'

const text = Type.String()
const texts = Type.Array(text)
const orNull = nullableString()
const timeOrNull = nullableString({ format: 'date-time' })

/** What each kind of line of `workspaces.export` has as its `data`. */
export const exportSchemas = {
  workspace: closed({
    id: text,
    name: text,
    slug: text,
    allowedDomains: texts,
    creatorUserId: orNull,
    createdAt: Timestamp,
  }),
  member: closed({
    userId: text,
    name: text,
    email: text,
    kind: stringEnum(userKinds),
    role: ref(Role),
    joinedAt: Timestamp,
  }),
  team: closed({ id: text, name: text, createdAt: Timestamp }),
  teamMember: closed({ teamId: text, userId: text, addedAt: Timestamp }),
  invite: closed({
    id: text,
    email: text,
    role: ref(Role),
    invitedByUserId: orNull,
    teamIds: texts,
    status: stringEnum(['pending', 'accepted', 'declined', 'revoked']),
    createdAt: Timestamp,
    expiresAt: Timestamp,
    lastSentAt: timeOrNull,
  }),
  integration: closed({
    id: text,
    clientId: text,
    clientName: text,
    clientUri: orNull,
    userId: text,
    scopes: texts,
    membersMayAsk: Type.Boolean(),
    createdAt: Timestamp,
    lastUsedAt: timeOrNull,
    expiresAt: Timestamp,
    revokedAt: timeOrNull,
  }),
  webhook: closed({
    id: text,
    url: text,
    description: orNull,
    types: Type.Union([texts, Type.Null()]),
    createdAt: Timestamp,
  }),
  serviceAccount: closed({ id: text, userId: text, createdByUserId: orNull, createdAt: Timestamp }),
  seed: closed({
    id: text,
    title: text,
    summary: text,
    problem: orNull,
    audience: orNull,
    hypothesis: orNull,
    successCriteria: texts,
    status: stringEnum(seedStatuses),
    statusChangedAt: timeOrNull,
    statusReason: orNull,
    statusChangedByUserId: orNull,
    statusChangedByName: orNull,
    createdByUserId: orNull,
    agentName: orNull,
    leadUserId: orNull,
    createdAt: Timestamp,
    updatedAt: Timestamp,
  }),
  participant: closed({ seedId: text, userId: text, joinedAt: Timestamp }),
  evidence: closed({
    id: text,
    seedId: text,
    kind: stringEnum(evidenceKinds),
    verdict: stringEnum(verdicts),
    summary: text,
    sourceUrl: orNull,
    authorUserId: orNull,
    authorName: text,
    agentName: orNull,
    createdAt: Timestamp,
    editedAt: timeOrNull,
    withdrawnAt: timeOrNull,
    withdrawnByName: orNull,
    withdrawnReason: orNull,
  }),
  comment: closed({
    id: text,
    seedId: text,
    evidenceId: orNull,
    body: text,
    authorUserId: orNull,
    authorName: text,
    agentName: orNull,
    createdAt: Timestamp,
    editedAt: timeOrNull,
  }),
  agentRequest: closed({
    id: text,
    commentId: text,
    grantId: text,
    agentName: text,
    forUserId: orNull,
    askedByUserId: orNull,
    state: stringEnum(agentRequestStates),
    reason: orNull,
    answerCommentId: orNull,
    createdAt: Timestamp,
    expiresAt: Timestamp,
  }),
  event: closed(storedEventFields),
} as const

/** The `data` of the lines by their kind. */
export type WorkspaceExport = { [Kind in keyof typeof exportSchemas]: Static<(typeof exportSchemas)[Kind]> }
