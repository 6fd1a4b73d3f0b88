import { Type } from '@sinclair/typebox'
import { operation } from '../../http/operation.ts'
import { closed, line, named, nullableString, Ok, ref, stringEnum } from '../../http/schemas.ts'
import { roles } from '../../kernel/roles.ts'
import { slugLengthMax, slugLengthMin, slugPattern } from '../../kernel/slugs.ts'
import { nameLengthMax } from '../../kernel/text.ts'

const Slug = Type.String({
  minLength: slugLengthMin,
  maxLength: slugLengthMax,
  pattern: slugPattern,
  description: `${slugLengthMin} to ${slugLengthMax} of a-z, 0-9 and single hyphens, none at either end`,
})
const iconUrl = nullableString({ description: 'The URL of the icon.' })
const Role = stringEnum(roles, { description: "The caller's role in the workspace." })

/** A workspace of the caller's. The caller's area shows it too. */
export const Membership = named('WorkspaceMembership', {
  id: Type.String(),
  name: Type.String(),
  slug: Type.String(),
  iconUrl,
  role: Role,
})

const WorkspaceDetail = named('WorkspaceDetail', {
  userId: Type.String(),
  workspaceId: Type.String(),
  name: Type.String(),
  slug: Type.String(),
  iconUrl,
  allowedDomains: Type.Array(Type.String()),
  role: Role,
})

const CreatedWorkspace = named('CreatedWorkspace', {
  id: Type.String(),
  name: Type.String(),
  slug: Type.String(),
  creatorUserId: Type.String(),
})

const WorkspaceCreation = named('WorkspaceCreation', {
  ok: Type.Literal(true),
  workspace: ref(CreatedWorkspace),
})
const SlugAvailability = named('SlugAvailability', { available: Type.Boolean() })
const IconUpload = named('IconUpload', { ok: Type.Literal(true), iconUrl: Type.String() })

export const workspacesSchemas = [
  Membership,
  WorkspaceDetail,
  CreatedWorkspace,
  WorkspaceCreation,
  SlugAvailability,
  IconUpload,
]

const slugParams = Type.Object({ slug: Type.String() })

export const listWorkspaces = operation({
  id: 'workspaces.list',
  summary: "List the caller's workspaces",
  description: 'The one used last first.',
  success: Type.Array(ref(Membership)),
})

export const createWorkspace = operation({
  id: 'workspaces.create',
  summary: 'Create a workspace',
  description:
    'The caller becomes its owner. 409 `slug_taken` when another workspace has the slug or still keeps it.',
  body: closed({ name: line(nameLengthMax), slug: Slug }),
  success: ref(WorkspaceCreation),
})

export const isSlugAvailable = operation({
  id: 'workspaces.slugAvailable',
  summary: 'Tell whether a workspace slug is free',
  description: 'An invalid or reserved slug is not.',
  params: slugParams,
  querystring: closed({
    excludeWorkspaceId: Type.Optional(
      Type.String({ description: 'A workspace of the caller to whom its own slugs are free.' }),
    ),
  }),
  success: ref(SlugAvailability),
})

export const getWorkspace = operation({
  id: 'workspaces.get',
  summary: 'Read a workspace',
  description:
    'A slug that the workspace had before works for 90 days; the answer then has the present path as `Content-Location`.',
  params: slugParams,
  success: ref(WorkspaceDetail),
})

export const updateWorkspace = operation({
  id: 'workspaces.update',
  summary: 'Change a workspace',
  description:
    'For owners and admins. The slug before keeps leading here for 90 days, and nobody else can take it.',
  params: slugParams,
  body: closed({
    name: line(nameLengthMax),
    slug: Slug,
    allowedDomains: Type.Optional(
      Type.String({
        maxLength: 4096,
        description:
          'Mail domains whose verified people join by themselves: up to 10, separated by commas or white space. ' +
          'Absent: unchanged. Empty: none. Public mail services are refused.',
      }),
    ),
  }),
  success: ref(Ok),
})

export const isSlugAvailableTo = operation({
  id: 'workspaces.slugAvailability',
  summary: 'Tell whether a workspace could have a slug',
  params: slugParams,
  querystring: closed({
    slug: Type.Optional(
      Type.String({ description: 'The candidate. Default: the slug that the workspace has.' }),
    ),
  }),
  success: ref(SlugAvailability),
})

export const uploadIcon = operation({
  id: 'workspaces.uploadIcon',
  summary: 'Upload the icon of a workspace',
  description:
    'For owners and admins. PNG, JPEG, WebP or GIF, up to 5 MiB and 25 megapixels; it is cropped to a square.',
  params: slugParams,
  success: ref(IconUpload),
})
