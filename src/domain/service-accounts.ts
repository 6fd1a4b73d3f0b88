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

/** The address of a service account: no mail can reach it, and nobody else can have it. */
export function emailOfService(serviceAccountId: string): string {
  return `${serviceAccountId}@${serviceDomain}`
}
