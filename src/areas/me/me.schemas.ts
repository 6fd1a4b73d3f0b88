import { Type, type Static } from '@sinclair/typebox'
import { exampleIds, exampleImageUrl } from '../../http/description/examples.ts'
import { operation } from '../../http/description/operation.ts'
import { closed, exampleOf, name, named, nullableString, ref } from '../../kernel/schemas.ts'
import { errors, imageErrors } from '../../kernel/errors.ts'
import { Membership } from '../workspaces/workspaces.schemas.ts'

const Profile = named(
  'Profile',
  {
    id: Type.String(),
    name: Type.String(),
    email: Type.String(),
    image: nullableString({ description: 'The URL of the profile photo.' }),
  },
  { id: exampleIds.user, name: 'Grace Hopper', email: 'grace@example.com', image: exampleImageUrl },
)
export type Profile = Static<typeof Profile>

const preferenceFields = {
  productUpdates: Type.Boolean({ description: 'Whether to send news about the product by email.' }),
  workspaceActivity: Type.Boolean({
    description: 'Whether to send notices of changes in workspaces by email.',
  }),
}
const examplePreferences = { productUpdates: false, workspaceActivity: true }

const Preferences = named(
  'Preferences',
  { userId: Type.String(), ...preferenceFields },
  { userId: exampleIds.user, ...examplePreferences },
)
export type Preferences = Static<typeof Preferences>

const PhotoUpload = named(
  'PhotoUpload',
  { ok: Type.Literal(true), image: Type.String() },
  { ok: true, image: exampleImageUrl },
)
const Onboarding = named(
  'Onboarding',
  { existing: Type.Union([ref(Membership), Type.Null()]) },
  { existing: exampleOf(Membership) },
)

export const meSchemas = [Profile, Preferences, PhotoUpload, Onboarding]

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
    'workspace.',
  success: Type.String({ examples: ['/w/acme'] }),
  returns: 'A path of the website, as a JSON string.',
  inPlace: true,
})

export const meOnboarding = operation({
  id: 'me.onboarding',
  summary: 'Read the workspace that the caller already belongs to',
  description: 'The workspace used last, or null.',
  success: ref(Onboarding),
  returns: 'The workspace that the caller used last, if any.',
  inPlace: true,
})
