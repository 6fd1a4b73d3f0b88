// Compiles when the client that @hey-api/openapi-ts generates is as its users need it.
import { agentOAuthRegister, meUploadPhoto, workspacesUploadIcon } from './hey-api.gen/sdk.gen.js'
import type { Role, WorkspacesCreateErrors } from './hey-api.gen/types.gen.js'

export async function upload(): Promise<string | undefined> {
  await workspacesUploadIcon({ path: { slug: 'acme' }, body: { file: new Blob(['bytes']) } })
  // @ts-expect-error -- a string is no file
  await meUploadPhoto({ body: { file: 'bytes' } })
  const { data } = await meUploadPhoto({ body: { file: new File(['bytes'], 'photo.png') } })
  return data?.image
}

export async function register(): Promise<string | undefined> {
  const { data, error } = await agentOAuthRegister({
    body: { redirect_uris: ['https://agent.example.com/callback'] },
  })
  return data?.client_id ?? (error && 'error' in error ? error.error : undefined)
}

/** Handles every conflict of an operation: the compiler knows all of them. */
export function explain({ code }: WorkspacesCreateErrors[409]): string {
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
export const undeclared: WorkspacesCreateErrors[409]['code'] = 'last_owner'

export const role: Role = 'viewer'
