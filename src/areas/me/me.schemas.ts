import { Type } from '@sinclair/typebox'
import { operation } from '../../http/operation.ts'
import { closed, line, named, nullableString, Ok, ref } from '../../http/schemas.ts'
import { nameLengthMax } from '../../kernel/text.ts'

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

export const meSchemas = [Profile, Preferences]

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
