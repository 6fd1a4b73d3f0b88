import { Type, type Static } from '@sinclair/typebox'
import { exampleIds, exampleImageUrl, exampleTime } from '../../http/description/examples.ts'
import { operation, slugParams, streamOperation } from '../../http/description/operation.ts'
import { domainsLengthMax } from '../../kernel/domains.ts'
import { Role } from '../../domain/roles.ts'
import { closed, exampleOf, name, named, nullableString, ok, ref } from '../../kernel/schemas.ts'
import { errors, imageErrors, workspaceErrors } from '../../kernel/errors.ts'
import { slugLengthMax, slugLengthMin, slugPattern } from '../../domain/slugs.ts'

const Slug = Type.String({
  minLength: slugLengthMin,
  maxLength: slugLengthMax,
  pattern: slugPattern,
  'x-fault': 'must be of the characters a-z and 0-9, and single hyphens between them',
  description: `${slugLengthMin} to ${slugLengthMax} characters: a-z, 0-9, and single hyphens between them.`,
})
const iconUrl = nullableString({ description: 'The URL of the icon.' })

/** A workspace of the caller, with the caller's role. Also used by `me.onboarding`. */
export const Membership = named(
  'WorkspaceMembership',
  {
    id: Type.String({ description: 'The id of the workspace.' }),
    name: Type.String({ description: 'The name of the workspace.' }),
    slug: Type.String({ description: 'The current slug of the workspace.' }),
    iconUrl,
    role: ref(Role),
  },
  { id: exampleIds.workspace, name: 'Acme', slug: 'acme', iconUrl: exampleImageUrl, role: 'owner' },
)
export type Membership = Static<typeof Membership>

const WorkspaceDetail = named(
  'WorkspaceDetail',
  {
    userId: Type.String({ description: 'The id of the caller.' }),
    workspaceId: Type.String({ description: 'The id of the workspace.' }),
    name: Type.String({ description: 'The name of the workspace.' }),
    slug: Type.String({ description: 'The current slug of the workspace.' }),
    iconUrl,
    allowedDomains: Type.Array(Type.String(), {
      description: 'People with a verified email address at one of these domains can join the workspace.',
    }),
    role: ref(Role),
  },
  {
    userId: exampleIds.user,
    workspaceId: exampleIds.workspace,
    name: 'Acme',
    slug: 'acme',
    iconUrl: exampleImageUrl,
    allowedDomains: ['example.com'],
    role: 'owner',
  },
)
export type WorkspaceDetail = Static<typeof WorkspaceDetail>

const CreatedWorkspace = named(
  'CreatedWorkspace',
  {
    id: Type.String({ description: 'The id of the workspace.' }),
    name: Type.String({ description: 'The name of the workspace.' }),
    slug: Type.String({ description: 'The slug of the workspace.' }),
    creatorUserId: Type.String({ description: 'The id of the caller, who is its owner.' }),
  },
  { id: exampleIds.workspace, name: 'Acme', slug: 'acme', creatorUserId: exampleIds.user },
  'A new workspace.',
)
export type CreatedWorkspace = Static<typeof CreatedWorkspace>

const WorkspaceCreation = named(
  'WorkspaceCreation',
  { ok, workspace: ref(CreatedWorkspace) },
  { ok: true, workspace: exampleOf(CreatedWorkspace) },
)
const SlugAvailability = named(
  'SlugAvailability',
  {
    available: Type.Boolean({
      description: 'Whether the slug can be taken now. Asking does not reserve it.',
    }),
  },
  { available: true },
)
const IconUpload = named(
  'IconUpload',
  { ok, iconUrl: Type.String({ description: 'The URL of the new icon.' }) },
  { ok: true, iconUrl: exampleImageUrl },
)

export const workspacesSchemas = [
  Membership,
  WorkspaceDetail,
  CreatedWorkspace,
  WorkspaceCreation,
  SlugAvailability,
  IconUpload,
]

export const workspacesList = operation({
  id: 'workspaces.list',
  summary: "List the caller's workspaces",
  description:
    'The workspace used last comes first. A key that is bound to workspaces gets only its workspaces.',
  success: Type.Array(ref(Membership)),
  returns: 'The workspaces of the caller.',
  inPlace: true,
})

export const workspacesCreate = operation({
  id: 'workspaces.create',
  summary: 'Create a workspace',
  description: 'The caller becomes its owner. An installation may leave this to its operators.',
  body: closed({ name, slug: Slug }, { examples: [{ name: 'Acme', slug: 'acme' }] }),
  success: ref(WorkspaceCreation),
  returns: 'The new workspace.',
  errors: [errors.slugReserved, errors.slugTaken, errors.workspaceLimit, errors.workspaceCreationDisabled],
  inPlace: true,
})

export const workspacesSlugAvailable = operation({
  id: 'workspaces.slugAvailable',
  summary: 'Check whether a workspace slug is available',
  description: 'An invalid or reserved slug is not available.',
  params: Type.Object({ slug: Type.String({ description: 'The slug to check.' }) }),
  querystring: closed({
    excludeWorkspaceId: Type.Optional(
      Type.String({
        description: 'A workspace of the caller. Its own slugs, current and former, count as available.',
      }),
    ),
  }),
  success: ref(SlugAvailability),
  returns: 'Whether the slug is available.',
  inPlace: true,
})

export const workspacesGet = operation({
  id: 'workspaces.get',
  summary: 'Read a workspace',
  description:
    'The last five former slugs of the workspace work for 90 days. The response to a former slug has the current path as `Content-Location`.',
  params: slugParams,
  success: ref(WorkspaceDetail),
  returns: 'The workspace.',
  errors: workspaceErrors,
  inPlace: true,
})

export const workspacesUpdate = operation({
  id: 'workspaces.update',
  summary: 'Change a workspace',
  description:
    'For owners and admins. The last five former slugs keep working for 90 days, and no other workspace can take them in that time.',
  params: slugParams,
  body: closed(
    {
      name,
      slug: Slug,
      allowedDomains: Type.Optional(
        Type.String({
          maxLength: domainsLengthMax,
          description:
            'Up to 10 email domains, separated by commas or white space. People with a verified address at one of ' +
            'them can join the workspace. Absent: unchanged. Empty: none. You can add the domain of your own ' +
            'verified address; public mail services are refused.',
        }),
      ),
    },
    { examples: [{ name: 'Acme', slug: 'acme', allowedDomains: 'example.com, example.org' }] },
  ),
  errors: [
    ...workspaceErrors,
    errors.roleInsufficient,
    errors.slugReserved,
    errors.slugTaken,
    errors.domainInvalid,
    errors.domainPublic,
    errors.domainLimit,
    errors.domainNotYours,
  ],
  inPlace: true,
})

export const workspacesSlugAvailability = operation({
  id: 'workspaces.slugAvailability',
  summary: 'Check whether a workspace could take a slug',
  description: 'Its own slugs, current and former, count as available. An invalid or reserved slug does not.',
  params: slugParams,
  querystring: closed({
    wanted: Type.Optional(
      Type.String({ description: 'The slug to check. Default: the current slug of the workspace.' }),
    ),
    slug: Type.Optional(
      Type.String({
        description:
          'The same, if `wanted` is absent. Some generated clients cannot tell it from the slug of the path.',
      }),
    ),
  }),
  success: ref(SlugAvailability),
  returns: 'Whether the workspace could take the slug.',
  errors: workspaceErrors,
  inPlace: true,
})

export const workspacesUploadIcon = operation({
  id: 'workspaces.uploadIcon',
  summary: 'Upload the icon of a workspace',
  description:
    'For owners and admins. A PNG, JPEG, WebP or GIF image of at most 5 MiB and 25 megapixels. It is cropped to a ' +
    'square.',
  params: slugParams,
  success: ref(IconUpload),
  returns: 'The URL of the new icon.',
  errors: [...workspaceErrors, errors.roleInsufficient, ...imageErrors],
  inPlace: true,
})

export const workspacesRemoveIcon = operation({
  id: 'workspaces.removeIcon',
  summary: 'Remove the icon of a workspace',
  description: 'For owners and admins. Removing it again succeeds. Its URL no longer returns a picture.',
  params: slugParams,
  errors: [...workspaceErrors, errors.roleInsufficient],
})

const allowanceText =
  'The owner of the API key allows it in the settings of the workspace on the website, for one time in the next ten minutes.'

export const workspacesTransferOwnership = operation({
  id: 'workspaces.transferOwnership',
  summary: 'Transfer the ownership of a workspace',
  description:
    'For owners. The member becomes an owner and the caller an admin, in one change. Other owners stay owners. Does nothing ' +
    'when the member is the caller. Not to a suspended member. ' +
    allowanceText,
  params: slugParams,
  body: closed(
    { userId: Type.String({ description: 'The id of the member.' }) },
    { examples: [{ userId: exampleIds.user }] },
  ),
  errors: [
    ...workspaceErrors,
    errors.roleInsufficient,
    errors.recentProofRequired,
    errors.serviceAccountNotAllowed,
    errors.isServiceAccount,
    errors.memberSuspended,
    errors.lastOwner,
  ],
})

export const workspacesDelete = operation({
  id: 'workspaces.delete',
  summary: 'Delete a workspace',
  description:
    'For owners. The workspace is gone at once, for all people and agents. Nobody can take its slug for 90 days. For 14 ' +
    'days the operator of the service can restore it; then everything in it is erased. The owners are told by email. ' +
    allowanceText,
  params: slugParams,
  body: closed(
    { confirmSlug: Type.String({ description: 'The current slug of the workspace.' }) },
    { examples: [{ confirmSlug: 'acme' }] },
  ),
  errors: [
    ...workspaceErrors,
    errors.roleInsufficient,
    errors.recentProofRequired,
    errors.serviceAccountNotAllowed,
    errors.confirmationMismatch,
  ],
})

export const workspacesExport = streamOperation(
  {
    id: 'workspaces.export',
    summary: 'Export a workspace',
    description:
      'For owners. A line `{"kind": …, "data": {…}}` for each thing in the workspace, with fields as in other responses: ' +
      '`workspace`, `member`, `team`, `teamMember`, `label`, `invite`, `integration`, `webhook`, `seed` with its `participant`, ' +
      '`evidence` and `comment`, and `event`, the oldest first. Deleted seeds and secrets are left out. The last line has ' +
      'the kind `end` and the number of the others: without it the export is incomplete. What changes while the export ' +
      'runs is read as it is then. One export of a workspace runs at a time. It is an event, for owners and admins.',
    params: slugParams,
    returns: 'The lines.',
    errors: [
      ...workspaceErrors,
      errors.roleInsufficient,
      errors.serviceAccountNotAllowed,
      errors.exportInProgress,
    ],
  },
  {
    type: 'application/x-ndjson',
    example:
      `${JSON.stringify({ kind: 'team', data: { id: exampleIds.team, name: 'Research', createdAt: exampleTime } })}\n` +
      `${JSON.stringify({ kind: 'end', data: { count: 1 } })}\n`,
  },
)
