import { serviceDomain } from '../kernel/email.ts'
import type { Role } from './roles.ts'

/** Whether a member is a person, or a service account: a program of the workspace. */
export const userKinds = ['person', 'service'] as const
export type UserKind = (typeof userKinds)[number]

/** The roles that service accounts can have: no owner, so that a workspace always belongs to a person. */
export const serviceRoles = ['admin', 'member', 'viewer'] as const satisfies Role[]
export type ServiceRole = (typeof serviceRoles)[number]

/** The most service accounts of a workspace. */
export const serviceAccountsMax = 20

/** The most OAuth clients of a service account whose access has not ended. */
export const serviceClientsMax = 10

/** How the clients of service accounts authenticate: by a secret, or by a key of their own. */
export const serviceClientMethods = ['client_secret_basic', 'private_key_jwt'] as const
export type ServiceClientMethod = (typeof serviceClientMethods)[number]

/** For how many days a client of a service account has access, from its creation or from when it is prolonged. */
export const serviceClientDays = 365

/** The address of a service account: no mail can reach it, and nobody else can have it. */
export function emailOfService(serviceAccountId: string): string {
  return `${serviceAccountId}@${serviceDomain}`
}
