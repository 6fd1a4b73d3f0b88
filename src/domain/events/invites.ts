import { exampleIds } from '../example-ids.ts'
import { nullableString } from '../../kernel/schemas.ts'
import { id, text, role, kind } from './kind.ts'

const invite = { inviteId: id('the invite'), email: text('The invited address.') }

const exampleInvite = { inviteId: exampleIds.invite, email: 'ada@example.com' }

const inviter = {
  invitedByUserId: id('the person who invited them'),
  invitedByName: text('The name of that person at the time.'),
}

/** Who invited somebody, in examples. */
export const exampleInviter = { invitedByUserId: exampleIds.actor, invitedByName: 'Grace Hopper' }

/** What happens to invites. */
export const inviteEvents = {
  'invite.created': kind(
    { ...invite, role: role('The role that they will have.') },
    {
      readers: 'managers',
      target: ['invite', 'inviteId'],
      summarize: ({ email, role: invitedAs }, actor) => `${actor} invited ${email} as ${invitedAs}`,
      example: { ...exampleInvite, role: 'member' },
    },
  ),
  'invite.resent': kind(invite, {
    readers: 'managers',
    target: ['invite', 'inviteId'],
    summarize: ({ email }, actor) => `${actor} sent the invite to ${email} again`,
    example: exampleInvite,
  }),
  'invite.revoked': kind(
    {
      inviteId: invite.inviteId,
      email: nullableString({
        description:
          'The invited address. Null if the account of the invited or of the inviting person was deleted.',
      }),
    },
    {
      readers: 'managers',
      target: ['invite', 'inviteId'],
      summarize: ({ email }, actor) =>
        email === null
          ? 'An invite was revoked because an account was deleted'
          : `${actor} revoked the invite to ${email}`,
      example: exampleInvite,
    },
  ),
  'invite.declined': kind(invite, {
    readers: 'managers',
    target: ['invite', 'inviteId'],
    summarize: ({ email }, actor) => `${actor} declined the invite to ${email}`,
    example: exampleInvite,
  }),
  'invite.undeliverable': kind(invite, {
    readers: 'managers',
    target: ['invite', 'inviteId'],
    summarize: ({ email }, actor) => `${actor} could not deliver the invite to ${email}`,
    example: exampleInvite,
  }),
  'invite.role_changed': kind(
    { ...invite, from: role('The role before.'), to: role('The role now.') },
    {
      readers: 'managers',
      target: ['invite', 'inviteId'],
      summarize: ({ email, from, to }, actor) =>
        `${actor} changed the role of the invite to ${email} from ${from} to ${to}`,
      example: { ...exampleInvite, from: 'viewer', to: 'member' },
    },
  ),
  'invite.accepted': kind(
    { inviteId: invite.inviteId, ...inviter },
    {
      readers: 'everybody',
      target: ['invite', 'inviteId'],
      summarize: ({ invitedByName }, actor) =>
        `${actor} accepted the invite of ${invitedByName} but was already a member`,
      example: { inviteId: exampleIds.invite, ...exampleInviter },
    },
  ),
}
