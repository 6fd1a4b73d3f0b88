import type { Changes, OwnChangeContext } from '../../access/change.ts'
import type { Database } from '../../db/client.ts'
import { together } from '../../db/together.ts'
import { compareEdit, type FieldVersions } from '../../kernel/edits.ts'
import { errors } from '../../kernel/errors.ts'
import { roleWith } from '../../domain/key-restrictions.ts'
import type { ExpectingCall, Principal } from '../../domain/principal.ts'
import { requireName } from '../../kernel/text.ts'
import { assertExpected, versionOfFields } from '../../kernel/versions.ts'
import type { JobQueue } from '../../platform/jobs/jobs.port.ts'
import type { PictureStore } from '../../pictures/picture-store.ts'
import type { ReceivedInvitesService } from '../invites/received-invites.service.ts'
import { lockToldWorkspaces, tellWorkspaces } from '../members/member-updates.ts'
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
  accountDeletion: {
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
  /** Throws `precondition_failed`. */
  updatePreferences(principal: ExpectingCall, input: Preferences): Promise<void>
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

/** The version of the preferences. */
export const versionOfPreferences = (preferences: Preferences) =>
  versionOfFields(preferences, ['productUpdates', 'workspaceActivity'])

export interface MeServiceOptions {
  db: Database
  changes: Changes
  pictures: PictureStore
  jobs: JobQueue
}

export function createMeService({ db, changes, pictures, jobs }: MeServiceOptions): MeService {
  async function findLastUsed({ user, restrictions }: Principal): Promise<MembershipRow | undefined> {
    const reach = { userId: user.id, workspaceIds: restrictions?.workspaceIds ?? null }
    const [membership] = await listMembershipsOfUser(db, reach, 1)
    return membership && { ...membership, role: roleWith(restrictions, membership.role) }
  }

  async function replacePhoto(context: OwnChangeContext, principal: Principal, imageKey: string | null) {
    const { id } = principal.user
    const before = await replaceUserImage(context.tx, id, imageKey)
    if (before === imageKey) return before
    const told = await lockToldWorkspaces(context.tx, id)
    await tellWorkspaces(context, told, { fields: ['image'], jobs, source: principal })
    return before
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
      principal.onVersion?.(versionOfProfile({ name }))
      await changes.make(principal, async (context) => {
        const { tx, write } = context
        const [current, told] = await together([lockName(tx, id), lockToldWorkspaces(tx, id)])
        if (current === undefined) throw errors.notFound()
        assertExpected(principal, versionOfProfile({ name: current }))
        const { changes: changed, conflicts } = compareEdit({ name: current }, { name }, opened)
        if (conflicts.length > 0) throw errors.changedMeanwhile()
        if (changed.name === undefined) return
        write((executor) => updateName(executor, id, name))
        await tellWorkspaces(context, told, { fields: ['name'], jobs, source: principal })
      })
    },

    async preferences({ user }) {
      const preferences = await findPreferences(db, user.id)
      // The user was deleted after the credential was read.
      if (!preferences) throw errors.notFound()
      return { userId: user.id, ...preferences }
    },

    async updatePreferences(principal, { productUpdates, workspaceActivity }) {
      const { id } = principal.user
      const after = { productUpdates, workspaceActivity }
      principal.onVersion?.(versionOfPreferences(after))
      await changes.make(principal, async ({ tx, write }) => {
        const before = await findPreferences(tx, id, { isLocked: true })
        if (before) assertExpected(principal, versionOfPreferences(before))
        write((executor) => updatePreferences(executor, id, after))
      })
    },

    uploadPhoto: (principal, upload) =>
      pictures.replace(principal, upload, (context, imageKey) => replacePhoto(context, principal, imageKey)),

    removePhoto: (principal) =>
      pictures.remove(principal, (context) => replacePhoto(context, principal, null)),

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
