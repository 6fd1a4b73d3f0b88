import { Type, type Static } from '@sinclair/typebox'
import { exampleIds, exampleImageUrl } from '../../http/description/examples.ts'
import { listOperation, operation, pathParams } from '../../http/description/operation.ts'
import { emailLengthMax } from '../../kernel/email.ts'
import { closed, exampleOf, name, named, nullableString, ok, ref } from '../../kernel/schemas.ts'
import { errors, imageErrors } from '../../kernel/errors.ts'
import { closedInviteErrors, InviteAcceptance, OwnInvite } from '../invites/invites.schemas.ts'
import { Offer } from '../members/members.schemas.ts'
import { Membership } from '../workspaces/workspaces.schemas.ts'
import { PersonExport } from './person-export.schemas.ts'

const Profile = named(
  'Profile',
  {
    id: Type.String({ description: 'The id of the caller.' }),
    name: Type.String({ description: 'The name of the caller.' }),
    email: Type.String({ description: 'The email address of the caller.' }),
    image: nullableString({ description: 'The URL of the profile photo.' }),
  },
  { id: exampleIds.user, name: 'Grace Hopper', email: 'grace@example.com', image: exampleImageUrl },
)
export type Profile = Static<typeof Profile>

const preferenceFields = {
  productUpdates: Type.Boolean({ description: 'Whether to send news about the product by email.' }),
  workspaceActivity: Type.Boolean({
    description:
      'Whether to send mentions, a daily digest of other notifications, changes of role and accepted invites by email.',
  }),
}
const examplePreferences = { productUpdates: false, workspaceActivity: true }

const Preferences = named(
  'Preferences',
  { userId: Type.String({ description: 'The id of the caller.' }), ...preferenceFields },
  { userId: exampleIds.user, ...examplePreferences },
)
export type Preferences = Static<typeof Preferences>

const PhotoUpload = named(
  'PhotoUpload',
  { ok, image: Type.String({ description: 'The URL of the new profile photo.' }) },
  { ok: true, image: exampleImageUrl },
)
const Onboarding = named(
  'Onboarding',
  {
    existing: Type.Union([ref(Membership), Type.Null()], {
      description: 'The workspace that the caller used last; null without a workspace.',
    }),
  },
  { existing: exampleOf(Membership) },
)

export const meSchemas = [Profile, Preferences, PhotoUpload, Onboarding, PersonExport]

export const meProfile = operation({
  id: 'me.profile',
  summary: "Read the caller's profile",
  description: 'The caller is the owner of the API key.',
  success: ref(Profile),
  returns: 'The profile of the caller.',
  inPlace: true,
})

export const meUpdateProfile = operation({
  id: 'me.updateProfile',
  summary: "Change the caller's name",
  description: 'Other members of their workspaces see the new name at once. Past events keep the old one.',
  body: closed({ name }, { examples: [{ name: 'Grace Hopper' }] }),
  inPlace: true,
})

export const mePreferences = operation({
  id: 'me.preferences',
  summary: "Read the caller's notification preferences",
  description: 'Which emails the caller has agreed to receive.',
  success: ref(Preferences),
  returns: 'The notification preferences of the caller.',
  errors: [errors.notFound],
  inPlace: true,
})

export const meUpdatePreferences = operation({
  id: 'me.updatePreferences',
  summary: "Change the caller's notification preferences",
  description: 'Both preferences are required.',
  body: closed(preferenceFields, { examples: [examplePreferences] }),
  inPlace: true,
})

export const meUploadPhoto = operation({
  id: 'me.uploadPhoto',
  summary: "Upload the caller's profile photo",
  description:
    'A PNG, JPEG, WebP or GIF image of at most 5 MiB and 25 megapixels. It is cropped to a square.',
  success: ref(PhotoUpload),
  returns: 'The URL of the new profile photo.',
  errors: imageErrors,
  inPlace: true,
})

export const meHome = operation({
  id: 'me.home',
  summary: "Read the path of the caller's home page",
  description:
    'The path on the website of the workspace that the caller used last, or `/onboarding` for a caller without a ' +
    'workspace. A key that is bound to workspaces gets the path of one of its workspaces.',
  success: Type.String({ examples: ['/w/acme'] }),
  returns: 'A path of the website, as a JSON string.',
  inPlace: true,
})

export const meOnboarding = operation({
  id: 'me.onboarding',
  summary: 'Read the workspace that the caller already belongs to',
  description:
    'The workspace used last, or null. A key that is bound to workspaces gets only one of its workspaces.',
  success: ref(Onboarding),
  returns: 'The workspace that the caller used last, if any.',
  inPlace: true,
})

export const meRemovePhoto = operation({
  id: 'me.removePhoto',
  summary: "Remove the caller's profile photo",
  description: 'Removing it again succeeds. Its URL no longer returns a picture.',
})

const inviteParams = pathParams('inviteId')
const offerParams = pathParams('workspaceId')

export const meListInvites = listOperation(
  {
    id: 'me.listInvites',
    summary: "List the invites to the caller's email address",
    description:
      'Newest first, without those that have ended. Empty until the caller has verified the address. A key that is bound to ' +
      'workspaces gets only the invites to its workspaces.',
    returns: 'A page of invites.',
  },
  { item: OwnInvite },
)

export const meAcceptInvite = operation({
  id: 'me.acceptInvite',
  summary: "Accept an invite to the caller's email address",
  description:
    'The caller becomes a member of the workspace, and of the teams of the invite. The id is that of `me.listInvites`; ' +
    '`invites.accept` takes the token of the link instead.',
  params: inviteParams,
  success: ref(InviteAcceptance),
  returns: 'The workspace that the caller has joined, and the role in it.',
  errors: [errors.notFound, ...closedInviteErrors, errors.workspaceLimit],
})

export const meDeclineInvite = operation({
  id: 'me.declineInvite',
  summary: "Decline an invite to the caller's email address",
  description:
    'The invite can no longer be accepted. Declining it again succeeds. The id is that of `me.listInvites`; ' +
    '`invites.decline` takes the token of the link instead.',
  params: inviteParams,
  errors: [errors.notFound, errors.inviteUsed, errors.inviteRevoked, errors.inviteExpired],
})

export const meListOffers = listOperation(
  {
    id: 'me.listOffers',
    summary: "List the workspaces that allow the domain of the caller's email address",
    description:
      'Those that the caller can join without an invite, oldest first, also those that they have declined or left. None ' +
      'until the address is verified.',
    returns: 'A page of workspaces.',
  },
  { item: Offer },
)

export const meAcceptOffer = operation({
  id: 'me.acceptOffer',
  summary: "Join a workspace that allows the domain of the caller's email address",
  description: 'The caller becomes a member.',
  params: offerParams,
  errors: [errors.notFound, errors.workspaceLimit],
})

export const meDeclineOffer = operation({
  id: 'me.declineOffer',
  summary: 'Decline a workspace that the caller can join',
  description: 'The website no longer asks. The caller can still join. Declining it again succeeds.',
  params: offerParams,
  errors: [errors.notFound],
})

export const meDelete = operation({
  id: 'me.delete',
  summary: "Delete the caller's account",
  description:
    'Signs the caller out everywhere, revokes their API keys and the access of their agents, and mails a link that cancels ' +
    'the deletion for 7 days. Then the account is deleted. Seeds, evidence, comments and events stay, without the name. ' +
    'The caller must allow it on the website (Security, Leaving) in the last ten minutes.',
  body: closed(
    {
      confirmEmail: Type.String({
        maxLength: emailLengthMax,
        description: 'The email address of the caller.',
      }),
    },
    { examples: [{ confirmEmail: 'grace@example.com' }] },
  ),
  errors: [errors.recentProofRequired, errors.confirmationMismatch, errors.lastOwner],
})

export const meExport = operation({
  id: 'me.export',
  summary: "Export the caller's data",
  description:
    'Their account, what gives access to it, and what they wrote and did, also in workspaces that they have left. Secrets ' +
    'and what belongs to others are left out. The caller must allow it on the website (Security, Leaving) in the last ten ' +
    'minutes. The response is streamed. If it fails midway, it ends early and is not valid JSON.',
  success: ref(PersonExport),
  returns: "Everything that is the caller's.",
  errors: [errors.recentProofRequired],
})
