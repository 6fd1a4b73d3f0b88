// Runs the validators that @hey-api/openapi-ts, kubb and orval generate: they take what the service takes.
import { zWorkspacesCreateBody } from './hey-api.gen/zod.gen.ts'
import { workspacesCreateMutationRequestSchema } from './kubb.gen/zod/workspaces/createSchema.ts'
import { WorkspacesCreateBody } from './orval.gen/zod.ts'

for (const schema of [zWorkspacesCreateBody, workspacesCreateMutationRequestSchema, WorkspacesCreateBody]) {
  // Its letters are those of `\p{Cc}`, which is a list of letters without the flag `u`.
  schema.parse({ name: 'People Corp 🏴', slug: 'people' })
  if (schema.safeParse({ name: 'x'.repeat(101), slug: 'people' }).success)
    throw new Error('the name is too long')
  if (schema.safeParse({ name: 'People', slug: 'No Slug' }).success) throw new Error('the slug is invalid')
}
