import { expect, it } from 'vitest'
import { uploadFile } from '../support/attachments.ts'
import { createCompany, get, patch, post } from '../support/company.ts'
import { createComment } from '../support/comments.ts'
import { addEvidence, createSeed, type TestSeed } from '../support/seeds.ts'
import { startTestApp } from '../support/test-app.ts'

const service = await startTestApp()
const { as } = service

interface Part {
  seedId: string
  criterionIds: string[]
  attachments: { id: string }[]
}

it('moves and returns files with their pieces, and takes criteria of the other seed off evidence meanwhile', async () => {
  const company = await createCompany(service)
  const { owner, member, viewer, workspace } = company
  const upload = async (name: string) => (await uploadFile(service, member, workspace.slug, name, name)).id
  const source = await createSeed(service, member, company, { title: 'Old', successCriteria: ['Ten pay'] })
  const target = await createSeed(service, member, company, { title: 'New', successCriteria: ['All stay'] })
  const criteriaOf = async ({ id }: { id: string }) =>
    (await as(member, get(`/v1/seeds/${id}`))).json<TestSeed & { criteria: { id: string }[] }>().criteria
  const [criterion] = await criteriaOf(source)
  const [other] = await criteriaOf(target)
  const own = await upload('seed.txt')
  await as(member, patch(`/v1/seeds/${source.id}`, { attachmentIds: [own] }))
  const files = { evidence: await upload('evidence.txt'), comment: await upload('comment.txt') }
  const piece = await addEvidence(service, member, source, {
    criterionIds: [criterion?.id],
    attachmentIds: [files.evidence],
  })
  const comment = await createComment(service, member, source, {
    body: 'See the file',
    attachmentIds: [files.comment],
  })

  const find = async (path: string) => (await as(viewer, get(path))).json<Part>()
  const state = async () => {
    const [evidence, said] = [
      await find(`/v1/evidence/${piece.id}`),
      await find(`/v1/comments/${comment.id}`),
    ]
    const url = (id: string) => `/v1/workspaces/${workspace.slug}/attachments/${id}/content`
    const readable = []
    for (const id of [own, files.evidence, files.comment])
      readable.push((await as(viewer, get(url(id)))).statusCode)
    return {
      seeds: [evidence.seedId, said.seedId],
      criterionIds: evidence.criterionIds,
      files: [...evidence.attachments, ...said.attachments].map(({ id }) => id),
      readable,
    }
  }
  const before = await state()
  expect(before).toEqual({
    seeds: [source.id, source.id],
    criterionIds: [criterion?.id],
    files: [files.evidence, files.comment],
    readable: [200, 200, 200],
  })

  const merged = await as(owner, post(`/v1/seeds/${source.id}/merge`, { into: target.id }))
  expect(merged.statusCode, merged.body).toBe(200)
  expect(await state()).toEqual({
    ...before,
    seeds: [target.id, target.id],
    criterionIds: [],
    // The file of the texts of the merged seed is where these are.
    readable: [404, 200, 200],
  })
  const speaks = await as(member, patch(`/v1/evidence/${piece.id}`, { criterionIds: [other?.id] }))
  expect(speaks.statusCode, speaks.body).toBe(200)

  const unmerged = await as(owner, post(`/v1/seeds/${source.id}/unmerge`))
  expect(unmerged.statusCode, unmerged.body).toBe(200)
  expect(await state()).toEqual(before)
})
