import { Type } from '@sinclair/typebox'
import { operation } from '../../http/operation.ts'
import { closed, line, named, nullableString, Ok, ref } from '../../http/schemas.ts'
import { nameLengthMax } from '../../kernel/text.ts'
import { Membership } from '../workspaces/workspaces.schemas.ts'

const Profile = named('Profile', {
  id: Type.String(),
  name: Type.String(),
  email: Type.String(),
  image: nullableString({ description: 'The URL of the profile photo.' }),
})

const Preferences = named('Preferences', {
  userId: Type.String(),
  productUpdates: Type.Boolean({ description: 'Whether news about the product are sent by mail.' }),
  workspaceActivity: Type.Boolean({
    description: 'Whether notices of changes in workspaces are sent by mail.',
  }),
})

const PhotoUpload = named('PhotoUpload', { ok: Type.Literal(true), image: Type.String() })
const Onboarding = named('Onboarding', { existing: Type.Union([ref(Membership), Type.Null()]) })

export const meSchemas = [Profile, Preferences, PhotoUpload, Onboarding]

export const getProfile = operation({
  id: 'me.profile',
  summary: "Read the caller's profile",
  success: ref(Profile),
})

export const updateProfile = operation({
  id: 'me.updateProfile',
  summary: "Change the caller's name",
  body: closed({ name: line(nameLengthMax) }),
  success: ref(Ok),
})

export const getPreferences = operation({
  id: 'me.preferences',
  summary: "Read the caller's notification preferences",
  success: ref(Preferences),
})

export const updatePreferences = operation({
  id: 'me.updatePreferences',
  summary: "Change the caller's notification preferences",
  body: closed({ productUpdates: Type.Boolean(), workspaceActivity: Type.Boolean() }),
  success: ref(Ok),
})

export const uploadPhoto = operation({
  id: 'me.uploadPhoto',
  summary: "Upload the caller's profile photo",
  description: 'PNG, JPEG, WebP or GIF, up to 5 MiB and 25 megapixels; it is cropped to a square.',
  success: ref(PhotoUpload),
})

export const getHome = operation({
  id: 'me.home',
  summary: "Read the caller's home",
  description:
    "The website's path: that of the workspace used last, or `/onboarding` for somebody without one.",
  success: Type.String({ examples: ['/w/acme', '/onboarding'] }),
})

export const getOnboarding = operation({
  id: 'me.onboarding',
  summary: 'Read the workspace that the caller is already in',
  description: 'The one used last, or null.',
  success: ref(Onboarding),
})
