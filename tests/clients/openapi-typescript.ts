// Compiles when the types that openapi-typescript generates are as clients need them.
import type { components, operations, paths } from './openapi-typescript.gen.js'

type Body<Path extends '/v1/me/photo' | '/v1/workspaces/{slug}/icon'> =
  paths[Path]['post']['requestBody']['content']['multipart/form-data']

export const photo: Body<'/v1/me/photo'> = { file: new File(['bytes'], 'photo.png') }
export const icon: Body<'/v1/workspaces/{slug}/icon'> = { file: new Blob(['bytes']) }
// @ts-expect-error -- a string is no file
export const text: Body<'/v1/me/photo'> = { file: 'bytes' }

type Conflict = operations['workspaces.create']['responses'][409]['content']['application/json']

/** Handles every conflict of an operation: the compiler knows all of them. */
export function explain({ code }: Conflict): string {
  switch (code) {
    case 'slug_taken':
      return 'Choose another slug.'
    case 'workspace_limit':
      return 'Leave a workspace first.'
    case 'idempotency_in_flight':
    case 'idempotency_key_reused':
      return 'Retry with another key.'
  }
}

// @ts-expect-error -- the operation does not answer this code
export const undeclared: Conflict['code'] = 'last_owner'

export const role: components['schemas']['Role'] = 'viewer'
export const link = (headers: operations['members.list']['responses'][200]['headers']): string | undefined =>
  headers.Link
export const registered: operations['agentOAuth.register']['responses'][201]['content']['application/json']['client_id'] =
  'r5xA2M42kEsTgS'
