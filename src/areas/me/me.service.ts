import type { Database } from '../../db/client.ts'
import { errors } from '../../kernel/errors.ts'
import type { Principal } from '../../kernel/principal.ts'
import { normalizeText } from '../../kernel/text.ts'
import { findPreferences, updateUser } from './me.repository.ts'

export interface Profile {
  id: string
  name: string
  email: string
  image: string | null
}

export interface Preferences {
  productUpdates: boolean
  workspaceActivity: boolean
}

export interface MeService {
  profile(principal: Principal): Profile
  updateProfile(principal: Principal, input: { name: string }): Promise<void>
  preferences(principal: Principal): Promise<Preferences & { userId: string }>
  updatePreferences(principal: Principal, input: Preferences): Promise<void>
}

export interface MeServiceOptions {
  db: Database
  /** The public URL of a stored picture. */
  pictureUrl: (imageKey: string) => string
}

export function createMeService({ db, pictureUrl }: MeServiceOptions): MeService {
  return {
    // The caller was read with the credential, by this very request: there is nothing left to ask.
    profile: ({ user: { id, name, email, imageKey } }) => ({
      id,
      name,
      email,
      image: imageKey === null ? null : pictureUrl(imageKey),
    }),

    async updateProfile({ user }, input) {
      await updateUser(db, user.id, { name: normalizeText(input.name) })
    },

    async preferences({ user }) {
      const preferences = await findPreferences(db, user.id)
      // Deleted since the credential was read.
      if (!preferences) throw errors.notFound()
      return { userId: user.id, ...preferences }
    },

    async updatePreferences({ user }, { productUpdates, workspaceActivity }) {
      await updateUser(db, user.id, { productUpdates, workspaceActivity })
    },
  }
}
