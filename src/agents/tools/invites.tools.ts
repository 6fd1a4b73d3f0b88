import { Type } from '@sinclair/typebox'
import { exampleIds } from '../../http/description/examples.ts'
import { changesOfAgents, toPrincipal, type AgentPrincipal } from '../../domain/agent.ts'
import { canonicalDomainOf, canonicalizeEmail, emailLengthMax, parseEmail } from '../../kernel/email.ts'
import { errors } from '../../kernel/errors.ts'
import { inviteTeamsMax } from '../../kernel/invites.ts'
import { parseJson, toJson } from '../../kernel/json-text.ts'
import { Role } from '../../domain/roles.ts'
import { closed, stringEnum } from '../../kernel/schemas.ts'
import { Invite } from '../../areas/invites/invites.schemas.ts'
import type { InvitesService } from '../../areas/invites/invites.service.ts'
import type { PeopleService } from '../../areas/people/people.service.ts'
import type { WorkspacesService } from '../../areas/workspaces/workspaces.service.ts'
import { defineTool, readingHints, type AgentTool } from './agent-tool.ts'
import { AgentDone, AgentInvite, AgentInvites, AgentInviteSent } from './agent-tools.schemas.ts'
import { idOf, writingHints, quote } from './common-tool-parts.ts'
import { limitDefault, pageAdvice, pageFields, toPageAnswer } from './tool-pages.ts'

const inviteId = idOf('an invite')
const role = stringEnum(['member', 'viewer'], { description: 'In the workspace.' })
const unknownInvite = 'No open invite of this workspace has this inviteId. Call list_invites.'
const roleTooHigh = 'Agents handle invites as member or viewer only. Ask your person to do it on the website.'

/**
 * The tools with which an agent invites people into a workspace, with the scope `workspace:write`. No answer has the link
 * of an invite, which gives access to who holds it: it is in the email alone.
 */
export function invitesTools({
  invites,
  people,
  workspaces,
}: {
  invites: InvitesService
  people: Pick<PeopleService, 'list'>
  workspaces: Pick<WorkspacesService, 'get'>
}): AgentTool[] {
  /** Whether an address is neither of a domain whose people may join the workspace, nor of a member. */
  async function isStranger(agent: AgentPrincipal, email: string): Promise<boolean> {
    const [principal, { slug }] = [toPrincipal(agent), agent.workspace]
    const { allowedDomains } = await workspaces.get(principal, slug)
    const address = parseEmail(email)
    const domain = address === undefined ? undefined : canonicalDomainOf(address)
    // The call says what is wrong with it.
    if (address === undefined || domain === undefined) return false
    if (allowedDomains.includes(domain)) return false
    const canonical = canonicalizeEmail(address)
    const { items } = await people.list(principal, slug, { kind: 'here', q: address })
    return !parseJson(items).some((person) => canonicalizeEmail(person.email) === canonical)
  }
  return [
    defineTool({
      name: 'list_invites',
      title: 'List invites',
      description: 'The open and expired invites, oldest first.',
      did: 'read the list of invites',
      scope: 'workspace:write',
      action: 'invites.list',
      http: { id: 'agent.listInvites', path: '/agent/v1/invites::list', returns: 'A page of invites.' },
      input: closed(pageFields, { examples: [{ limit: 10 }] }),
      output: AgentInvites,
      parts: [Invite, Role],
      hints: readingHints,
      async call(agent, { limit = limitDefault, ...input }) {
        const page = await invites.list(toPrincipal(agent), agent.workspace.slug, { ...input, limit })
        return toPageAnswer('invites', page)
      },
      errors: [errors.cursorInvalid, errors.roleInsufficient],
      advice: pageAdvice,
    }),
    defineTool({
      name: 'create_invite',
      title: 'Invite a person',
      description: 'Invites a person by email, for seven days. Only whom your person has named.',
      did: changesOfAgents.create_invite,
      scope: 'workspace:write',
      action: 'invites.create',
      http: { id: 'agent.createInvite', path: '/agent/v1/invites::create', returns: 'The new invite.' },
      input: closed(
        {
          email: Type.String({ maxLength: emailLengthMax, description: 'An email address.' }),
          role,
          teamIds: Type.Optional(
            Type.Array(Type.String(), { maxItems: inviteTeamsMax, description: 'Teams to join.' }),
          ),
        },
        { examples: [{ email: 'ada@example.com', role: 'member' }] },
      ),
      output: AgentInvite,
      parts: [Invite, Role],
      hints: { ...writingHints, idempotentHint: false, openWorldHint: true },
      async confirm(agent, { email, role: asked }) {
        const { name: workspaceName } = agent.workspace
        if (!(await isStranger(agent, email))) return undefined
        return `Invite ${quote(email)}, who is not of your organization, to the workspace ${quote(workspaceName)} as ${asked}? They can read all of it.`
      },
      async call(agent, input) {
        const { invite } = await invites.create(toPrincipal(agent), agent.workspace.slug, input)
        return toJson({ invite })
      },
      errors: [
        errors.notFound,
        errors.roleInsufficient,
        errors.emailInvalid,
        errors.roleTooHigh,
        errors.alreadyMember,
        errors.alreadyInvited,
        errors.tooManyInvites,
        errors.tooManyInvitesToRecipient,
      ],
      advice: {
        not_found: 'A team is not in this workspace. Call list_teams.',
        already_invited: 'Call list_invites for its id, then resend_invite.',
        role_too_high: roleTooHigh,
      },
    }),
    defineTool({
      name: 'resend_invite',
      title: 'Resend an invite',
      description: 'Sends an invite again, for seven more days.',
      did: changesOfAgents.resend_invite,
      scope: 'workspace:write',
      action: 'invites.resend',
      http: { id: 'agent.resendInvite', path: '/agent/v1/invites::resend', returns: 'The new expiry.' },
      input: closed({ inviteId }, { examples: [{ inviteId: exampleIds.invite }] }),
      output: AgentInviteSent,
      parts: [],
      hints: { ...writingHints, idempotentHint: false, openWorldHint: true },
      async call(agent, { inviteId: id }) {
        const { expiresAt } = await invites.resend(toPrincipal(agent), agent.workspace.slug, id)
        return toJson({ ok: true as const, expiresAt })
      },
      errors: [
        errors.notFound,
        errors.roleInsufficient,
        errors.roleTooHigh,
        errors.inviteUsed,
        errors.inviteDeclined,
        errors.inviteRevoked,
        errors.tooManyInvites,
        errors.tooManyInvitesToRecipient,
      ],
      advice: { not_found: unknownInvite, role_too_high: roleTooHigh },
    }),
    defineTool({
      name: 'update_invite',
      title: 'Change an invite',
      description: 'Changes the role that an open invite grants.',
      did: changesOfAgents.update_invite,
      scope: 'workspace:write',
      action: 'invites.updateRole',
      http: { id: 'agent.updateInvite', path: '/agent/v1/invites::update', returns: 'That it was changed.' },
      input: closed({ inviteId, role }, { examples: [{ inviteId: exampleIds.invite, role: 'viewer' }] }),
      output: AgentDone,
      parts: [],
      hints: { ...writingHints, idempotentHint: true },
      async call(agent, { inviteId: id, ...input }) {
        await invites.updateRole(toPrincipal(agent), agent.workspace.slug, id, input)
        return toJson({ ok: true as const })
      },
      errors: [
        errors.notFound,
        errors.roleInsufficient,
        errors.roleTooHigh,
        errors.inviteUsed,
        errors.inviteDeclined,
        errors.inviteRevoked,
      ],
      advice: { not_found: unknownInvite, role_too_high: roleTooHigh },
    }),
    defineTool({
      name: 'revoke_invite',
      title: 'Revoke an invite',
      description: 'Revokes an invite. Its link stops working.',
      did: changesOfAgents.revoke_invite,
      scope: 'workspace:write',
      action: 'invites.revoke',
      http: { id: 'agent.revokeInvite', path: '/agent/v1/invites::revoke', returns: 'That it was revoked.' },
      input: closed({ inviteId }, { examples: [{ inviteId: exampleIds.invite }] }),
      output: AgentDone,
      parts: [],
      hints: { ...writingHints, destructiveHint: true, idempotentHint: true },
      async call(agent, { inviteId: id }) {
        await invites.revoke(toPrincipal(agent), agent.workspace.slug, id)
        return toJson({ ok: true as const })
      },
      errors: [errors.notFound, errors.roleInsufficient, errors.roleTooHigh, errors.inviteUsed],
      advice: { not_found: unknownInvite, role_too_high: roleTooHigh },
    }),
  ]
}
