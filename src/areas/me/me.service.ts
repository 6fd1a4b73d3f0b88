import type { Changes } from '../../access/change.ts'
import type { Database } from '../../db/client.ts'
import { compareEdit, type FieldVersions } from '../../kernel/edits.ts'
import { errors } from '../../kernel/errors.ts'
import type { ExpectingCall, Principal } from '../../domain/principal.ts'
import { requireName } from '../../kernel/text.ts'
import { assertExpected, versionOfFields } from '../../kernel/versions.ts'
import type { PictureStore } from '../../pictures/picture-store.ts'
import type { ReceivedInvitesService } from '../invites/received-invites.service.ts'
import type { OffersService } from '../members/offers.service.ts'
import { listMembershipsOfUser, type MembershipRow } from '../workspaces/workspaces.repository.ts'
import type { Membership } from '../workspaces/workspaces.schemas.ts'
import {
  findPreferences,
  lockName,
  replaceUserImage,
  updateName,
  updatePreferences,
} from './me.repository.ts'
import type { Preferences as PreferencesOfUser, Profile } from './me.schemas.ts'

export type Preferences = Omit<PreferencesOfUser, 'userId'>

export type { Profile }

/** What the operations of `me` call. */
export interface ServicesOfCaller {
  me: MeService
  offers: OffersService
  receivedInvites: ReceivedInvitesService
  leaving: {
    requestDeletion: (principal: Principal, input: { confirmEmail: string }) => Promise<void>
    exportPerson: (principal: Principal) => Promise<{ name: string; json: AsyncGenerator<string> }>
  }
}

export interface MeService {
  profile(principal: Principal): Profile
  /**
   * Throws `name_invalid` and `precondition_failed`. With `opened`, the version of the name when the edit was begun, throws
   * `changed_meanwhile` if it has another one now.
   */
  updateProfile(principal: ExpectingCall, input: { name: string }, opened?: FieldVersions): Promise<void>
  preferences(principal: Principal): Promise<PreferencesOfUser>
  updatePreferences(principal: Principal, input: Preferences): Promise<void>
  /** Sets the profile photo. Returns its URL. Throws what `PictureStore.replace` throws. */
  uploadPhoto(principal: Principal, upload: Buffer): Promise<string>
  /** Removes the profile photo. Idempotent. */
  removePhoto(principal: Principal): Promise<void>
  /** The path of the caller's home page: the workspace used last of those that the caller reaches, or onboarding. */
  home(principal: Principal): Promise<string>
  /** The workspace used last of those that the caller reaches; null for a caller without one. */
  existingWorkspace(principal: Principal): Promise<Membership | null>
}

/** The version of a profile: of what `updateProfile` changes. */
export const versionOfProfile = (profile: { name: string }) => versionOfFields(profile, ['name'])

export interface MeServiceOptions {
  db: Database
  changes: Changes
  pictures: PictureStore
}

export function createMeService({ db, changes, pictures }: MeServiceOptions): MeService {
  async function findLastUsed({ user, restrictions }: Principal): Promise<MembershipRow | undefined> {
    const reach = { userId: user.id, workspaceIds: restrictions?.workspaceIds ?? null }
    const [membership] = await listMembershipsOfUser(db, reach, 1)
    return membership
  }

  return {
    // Already read with the credential of this request.
    profile: ({ user: { id, name, email, imageKey } }) => ({
      id,
      name,
      email,
      image: pictures.urlOf(imageKey),
    }),

    async updateProfile(principal, input, opened) {
      const { id } = principal.user
      const name = requireName(input.name)
      if (opened === undefined && principal.expected === undefined)
        return changes.makeAtOnce(principal, (db) => updateName(db, id, name))
      await changes.make(principal, async ({ tx }) => {
        const current = await lockName(tx, id)
        if (current === undefined) throw errors.notFound()
        assertExpected(principal, versionOfProfile({ name: current }))
        const { changes: changed, conflicts } = compareEdit({ name: current }, { name }, opened)
        if (conflicts.length > 0) throw errors.changedMeanwhile()
        if (changed.name !== undefined) await updateName(tx, id, changed.name)
      })
    },

    async preferences({ user }) {
      const preferences = await findPreferences(db, user.id)
      // The user was deleted after the credential was read.
      if (!preferences) throw errors.notFound()
      return { userId: user.id, ...preferences }
    },

    updatePreferences: (principal, { productUpdates, workspaceActivity }) =>
      changes.makeAtOnce(principal, (executor) =>
        updatePreferences(executor, principal.user.id, { productUpdates, workspaceActivity }),
      ),

    uploadPhoto: (principal, upload) =>
      pictures.replace(principal, upload, ({ tx }, imageKey) =>
        replaceUserImage(tx, principal.user.id, imageKey),
      ),

    removePhoto: (principal) =>
      pictures.remove(principal, ({ tx }) => replaceUserImage(tx, principal.user.id, null)),

    async home(principal) {
      const membership = await findLastUsed(principal)
      return membership ? `/w/${membership.slug}` : '/onboarding'
    },

    async existingWorkspace(principal) {
      const membership = await findLastUsed(principal)
      if (!membership) return null
      const { iconKey, ...rest } = membership
      return { ...rest, iconUrl: pictures.urlOf(iconKey) }
    },
  }
}
