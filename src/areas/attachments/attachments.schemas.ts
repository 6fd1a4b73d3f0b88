import { Type, type Static } from '@sinclair/typebox'
import { exampleIds, exampleTime } from '../../http/description/examples.ts'
import { fileOperation, operation, pathParams, slugParams } from '../../http/description/operation.ts'
import { attachmentSizes, attachmentsMax } from '../../domain/attachments.ts'
import { errors, imageErrors, workspaceErrors } from '../../kernel/errors.ts'
import {
  closed,
  exampleOf,
  named,
  nullableInteger,
  nullableString,
  ok,
  ref,
  stringEnum,
  timestamp,
} from '../../kernel/schemas.ts'

export const Attachment = named(
  'Attachment',
  {
    id: Type.String({ description: 'The id of the file.' }),
    workspaceId: Type.String({ description: 'The id of the workspace.' }),
    name: Type.String({ description: 'Its name, without a path.' }),
    type: Type.String({ description: 'Its media type, by its content.' }),
    bytes: Type.Integer({ description: 'Its size.' }),
    width: nullableInteger('The width of an image in pixels; null of other files.'),
    height: nullableInteger('The height of an image in pixels; null of other files.'),
    createdByUserId: nullableString({
      description: 'The person who uploaded it. Null: the account was deleted.',
    }),
    createdAt: timestamp('When it was uploaded.'),
  },
  {
    id: exampleIds.attachment,
    workspaceId: exampleIds.workspace,
    name: 'interviews.csv',
    type: 'text/csv',
    bytes: 18_204,
    width: null,
    height: null,
    createdByUserId: exampleIds.user,
    createdAt: exampleTime,
  },
  'A file of a workspace, which a seed, a piece of evidence or a comment may have.',
)
export type Attachment = Static<typeof Attachment>

const AttachmentCreation = named(
  'AttachmentCreation',
  { ok, attachment: ref(Attachment) },
  { ok: true, attachment: exampleOf(Attachment) },
)

const AttachmentLink = named(
  'AttachmentLink',
  {
    url: Type.String({ format: 'uri', description: 'The URL of its content. Whoever has it can read it.' }),
    expiresAt: timestamp('Until when the URL works.'),
  },
  {
    url: `https://api.example.com/v1/attachment-links/${exampleIds.attachment}.1795781045.F3kq0Zr-Kc1uLw9bE`,
    expiresAt: exampleTime,
  },
)

export const attachmentsSchemas = [Attachment, AttachmentCreation, AttachmentLink]

/** The errors of operations that attach files. */
export const attachmentErrors = [errors.attachmentNotFound, errors.attachmentLimit]

/** The files of a seed, a piece of evidence or a comment, in answers. */
export const attachmentsField = Type.Array(ref(Attachment), { description: 'Its files, in their order.' })

/** The files of something that is added or changed. Described only in the API: models read each word of the inputs of tools. */
export const attachmentIdsField = Type.Optional(
  Type.Array(Type.String({ maxLength: 64 }), {
    maxItems: attachmentsMax,
    description: 'The ids of its files, in their order: what the caller has uploaded and nothing uses yet.',
  }),
)

/** The same of a change. */
export const changedAttachmentIdsField = Type.Optional(
  Type.Array(Type.String({ maxLength: 64 }), {
    maxItems: attachmentsMax,
    description:
      'The ids of its files, in their order: those that it has, and what the caller has uploaded and nothing uses yet. A file ' +
      'that is left out is deleted.',
  }),
)

const attachmentParams = pathParams('slug', 'attachmentId')

export const attachmentsCreate = operation({
  id: 'attachments.create',
  summary: 'Upload a file',
  description:
    'For members and above: images (PNG, JPEG, WebP, GIF), PDF, audio, video, CSV and text in UTF-8, of up to 25 MiB. The content ' +
    'decides what type it is. Images are made anew, without their metadata. `attachmentIds` of a seed, a piece of evidence or a ' +
    'comment puts it there; it is deleted after a day in which nothing did.',
  params: slugParams,
  success: ref(AttachmentCreation),
  returns: 'The file.',
  errors: [...workspaceErrors, errors.roleInsufficient, errors.storageQuota, ...imageErrors],
})

export const attachmentsGet = operation({
  id: 'attachments.get',
  summary: 'Read what a file is',
  description:
    'For all members, with what it is attached to. A file that nothing uses is shown to who uploaded it, and to owners and admins.',
  params: attachmentParams,
  success: ref(Attachment),
  returns: 'The file, without its content.',
  errors: workspaceErrors,
})

export const attachmentsContent = fileOperation({
  id: 'attachments.content',
  summary: 'Download a file',
  description:
    'For those who can read it by `attachments.get`. Browsers show images, and save all other files. `size=thumbnail` is a WebP of up ' +
    'to 480 pixels in width, of images alone.',
  params: attachmentParams,
  querystring: closed({
    size: Type.Optional(
      stringEnum(attachmentSizes, { default: 'original', description: 'The size of an image.' }),
    ),
  }),
  returns: 'The content.',
  errors: [...workspaceErrors, errors.storageUnavailable],
})

export const attachmentsLink = operation({
  id: 'attachments.link',
  summary: 'Make a link to the content of a file',
  description:
    'For those who can read it by `attachments.get`. Whoever has the URL can read the content for five minutes, without a key.',
  params: attachmentParams,
  success: ref(AttachmentLink),
  returns: 'The link.',
  errors: workspaceErrors,
})

export const attachmentsDelete = operation({
  id: 'attachments.delete',
  summary: 'Delete a file',
  description: 'For who uploaded it while nothing uses it, and for owners and admins. It cannot be restored.',
  params: attachmentParams,
  errors: [...workspaceErrors, errors.roleInsufficient],
})
