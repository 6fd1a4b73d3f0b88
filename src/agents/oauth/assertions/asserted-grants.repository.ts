import { and, desc, eq, gt, isNotNull, isNull, lt, or, sql } from 'drizzle-orm'
import type { Executor } from '../../../db/client.ts'
import { isStaying } from '../../../db/schema/account-deletions.ts'
import { identities } from '../../../db/schema/accounts.ts'
import { agentGrants, agentPolicies } from '../../../db/schema/agent-grants.ts'
import { memberships } from '../../../db/schema/memberships.ts'
import { oauthRecords } from '../../../db/schema/oauth.ts'
import { users } from '../../../db/schema/users.ts'
import { isWorkspace, workspaces, workspaceSlugs } from '../../../db/schema/workspaces.ts'
import type { Role } from '../../../domain/roles.ts'
import { hashSecret } from '../../../kernel/tokens.ts'
import { isLive } from '../records/grant-records.repository.ts'

/** A person who has linked an account at a provider. */
export interface AssertedPerson {
  id: string
  isSuspended: boolean
  isStaying: boolean
}

/** The person who has linked an account at a provider; undefined if nobody has. */
export async function findPersonByIdentity(
  executor: Executor,
  { issuer, subject }: { issuer: string; subject: string },
): Promise<AssertedPerson | undefined> {
  const [person] = await executor
    .select({
      id: users.id,
      isSuspended: sql<boolean>`${users.suspendedAt} is not null`,
      isStaying: sql<boolean>`${isStaying(users.id)}`,
    })
    .from(identities)
    .innerJoin(users, and(eq(users.id, identities.userId), eq(users.kind, 'person')))
    .where(and(eq(identities.issuer, issuer), eq(identities.subject, subject), isNull(identities.unlinkedAt)))
  return person
}

/** A workspace of a person, with its policy if it has one. */
export interface PolicyOfMember {
  workspaceId: string
  workspaceName: string
  isOn: boolean | null
  clients: string[] | null
}

/** The workspaces of a person by a current or former slug, or else those whose policies are on. */
export async function listPoliciesOfMember(
  executor: Executor,
  { userId, slug, now }: { userId: string; slug: string | null; now: Date },
): Promise<PolicyOfMember[]> {
  const { isOn, clients } = agentPolicies
  const query = executor
    .select({ workspaceId: workspaces.id, workspaceName: workspaces.name, isOn, clients })
    .from(memberships)
    .innerJoin(workspaces, isWorkspace(memberships.workspaceId))
    .leftJoin(agentPolicies, eq(agentPolicies.workspaceId, workspaces.id))
  const isOfMember = eq(memberships.userId, userId)
  return slug === null
    ? query.where(and(isOfMember, eq(isOn, true)))
    : query
        .innerJoin(
          workspaceSlugs,
          and(
            eq(workspaceSlugs.workspaceId, workspaces.id),
            eq(workspaceSlugs.slug, slug),
            or(isNull(workspaceSlugs.keptUntil), gt(workspaceSlugs.keptUntil, now)),
          ),
        )
        .where(isOfMember)
}

/** The role in a membership, which stays until the transaction ends; undefined if it has ended. */
export async function lockMembership(
  tx: Executor,
  { workspaceId, userId }: { workspaceId: string; userId: string },
): Promise<Role | undefined> {
  const [member] = await tx
    .select({ role: memberships.role })
    .from(memberships)
    .where(and(eq(memberships.workspaceId, workspaceId), eq(memberships.userId, userId)))
    .for('share')
  return member?.role
}

/** The policy of a workspace, which stays until the transaction ends; undefined without one. */
export async function lockPolicy(tx: Executor, workspaceId: string) {
  const { isOn, clients, scopes, consentVersion } = agentPolicies
  const [policy] = await tx
    .select({ isOn, clients, scopes, consentVersion })
    .from(agentPolicies)
    .where(eq(agentPolicies.workspaceId, workspaceId))
    .for('share')
  return policy
}

interface Of {
  workspaceId: string
  userId: string
  clientId: string
}

const isOf = ({ workspaceId, userId, clientId }: Of) =>
  and(
    eq(agentGrants.workspaceId, workspaceId),
    eq(agentGrants.userId, userId),
    eq(agentGrants.clientId, clientId),
    isNotNull(agentGrants.assertedIssuer),
  )

/** Whether access by assertions was revoked, and its person has not allowed it again. */
export async function isRevoked(tx: Executor, of: Of): Promise<boolean> {
  const found = await tx
    .select({ id: agentGrants.id })
    .from(agentGrants)
    .where(and(isOf(of), isNotNull(agentGrants.revokedAt), eq(agentGrants.mayReturn, false)))
    .limit(1)
  return found.length > 0
}

/** The live grant by assertions of a person to a client in a workspace, locked. */
export async function lockAssertedGrant(
  tx: Executor,
  of: Of,
  now: Date,
): Promise<{ id: string } | undefined> {
  const [grant] = await tx
    .select({ id: agentGrants.id })
    .from(agentGrants)
    .where(and(isOf(of), isLive(now)))
    .orderBy(desc(agentGrants.createdAt), desc(agentGrants.id))
    .limit(1)
    .for('no key update')
  return grant
}

/** Gives a grant what the policy and the assertion of now say. */
export async function renewAssertedGrant(
  tx: Executor,
  id: string,
  values: Pick<
    typeof agentGrants.$inferInsert,
    'clientName' | 'clientUri' | 'scopes' | 'consentVersion' | 'assertedIssuer'
  >,
): Promise<void> {
  await tx.update(agentGrants).set(values).where(eq(agentGrants.id, id))
}

/** Records that an assertion was used, until it expires. Returns false if it was used before, by whichever process. */
export async function useAssertion(
  tx: Executor,
  { issuer, id, expiresAt }: { issuer: string; id: string; expiresAt: Date },
  now: Date,
): Promise<boolean> {
  const key = hashSecret(JSON.stringify([issuer, id])).toString('base64url')
  const row = { payload: { iss: issuer }, createdAt: now, expiresAt }
  const { rowCount } = await tx
    .insert(oauthRecords)
    .values({ kind: 'Assertion', key, ...row })
    .onConflictDoUpdate({
      target: [oauthRecords.kind, oauthRecords.key],
      set: row,
      setWhere: lt(oauthRecords.expiresAt, now),
    })
  return rowCount === 1
}
