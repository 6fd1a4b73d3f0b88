import { expect, it } from 'vitest'
import { createCompany, createInvite, get, patch, post, randomEmail } from '../support/company.ts'
import type { TestRequest } from '../support/company.ts'
import { recordStatements } from '../support/record-statements.ts'
import { addEvidence, createSeed, joinSeed, someEvidence } from '../support/seeds.ts'
import { startTestApp, type TestPerson } from '../support/test-app.ts'

// The round trips of changes to the database, with the statements of each. On a network of one millisecond each costs one,
// the later ones while rows are locked.

// With the limits of production, which are counted.
const service = await startTestApp({
  environment: { INVITE_LIMIT_PER_HOUR: undefined, MAIL_LIMIT_PER_HOUR: undefined },
})
const { as } = service
const company = await createCompany(service)
const { owner, member, url } = company

async function roundTripsOf(person: TestPerson, request: TestRequest): Promise<string[][]> {
  const { roundTrips } = await recordStatements(async () => {
    const answer = await as(person, request)
    expect(answer.statusCode, answer.body).toBe(200)
  })
  return roundTrips
}

/** Records the use of the workspace, which a request does once a minute. */
const visit = (person: TestPerson) => as(person, get(url))

it('me.updateProfile takes 3 round trips to the database, however many workspaces are told', async () => {
  expect(await roundTripsOf(owner, patch('/v1/me', { name: 'Olga Other' }))).toEqual([
    ['api_keys_select_owners'],
    ['begin', 'users_lock_name', 'memberships_lock_of_user'],
    ['users_set_name', 'webhook_deliveries_insert_of_each', 'events_insert_in_each', 'commit'],
  ])
})

it('seeds.create takes 4 round trips to the database', async () => {
  await visit(member)
  const body = { title: 'A seed', summary: 'About it' }
  expect(await roundTripsOf(member, post(`${url}/seeds`, body))).toEqual([
    ['api_keys_select_owners'],
    ['workspaces_select_by_slug'],
    ['begin', 'seeds_select_similar'],
    [
      'seeds_insert',
      'seed_participants_insert',
      'seed_followers_insert',
      'webhook_deliveries_insert_of_seed',
      'events_insert',
      'commit',
    ],
  ])
})

it('seeds.addEvidence takes 4 round trips to the database', async () => {
  const seed = await createSeed(service, member, company)
  await joinSeed(service, member, seed)
  expect(await roundTripsOf(member, post(`/v1/seeds/${seed.id}/evidence`, someEvidence))).toEqual([
    ['api_keys_select_owners'],
    ['workspaces_select_by_seed'],
    ['begin', 'seeds_lock', 'seed_participants_lock'],
    [
      'evidence_insert',
      'seeds_touch',
      'notifications_insert_for_followers',
      'webhook_deliveries_insert_of_seed',
      'events_insert',
      'commit',
    ],
  ])
})

it('evidence.see takes 5 round trips to the database', async () => {
  const seed = await createSeed(service, owner, company)
  await joinSeed(service, owner, seed)
  const { id } = await addEvidence(service, owner, seed)
  await visit(member)
  expect(await roundTripsOf(member, post(`/v1/evidence/${id}/see`))).toEqual([
    ['api_keys_select_owners'],
    ['workspaces_select_by_evidence'],
    ['begin', 'memberships_keep', 'evidence_lock_seen'],
    ['evidence_seen_insert'],
    ['webhook_deliveries_insert_of_seed', 'events_insert', 'commit'],
  ])
})

it('invites.create takes 4 round trips to the database', async () => {
  await visit(owner)
  const body = { email: randomEmail(), role: 'member' }
  expect(await roundTripsOf(owner, post(`${url}/invites`, body))).toEqual([
    ['api_keys_select_owners'],
    ['workspaces_select_by_slug'],
    [
      'begin',
      'workspaces_lock_members',
      'api_keys_lock_active',
      'memberships_select',
      'memberships_select_with_address',
      'events_count_invites',
      'invites_lock_recipient',
      'events_count_invites_to_recipient',
    ],
    [
      'invites_replace_expired',
      'invites_insert',
      'invite_tokens_insert',
      'jobs_add',
      'webhook_deliveries_insert',
      'events_insert',
      'commit',
    ],
  ])
})

it('invites.accept takes 4 round trips to the database', async () => {
  const person = await service.createPerson()
  const { token } = await createInvite(service, owner, company, { email: person.email })
  expect(await roundTripsOf(person, post(`/v1/invites/${token}/accept`))).toEqual([
    ['api_keys_select_owners'],
    ['invites_select_by_token'],
    [
      'begin',
      'users_lock',
      'workspaces_lock_members',
      'invites_select_by_token',
      'memberships_select',
      'memberships_select',
      'memberships_count_of_user',
      'invite_teams_lock',
    ],
    [
      'invites_close',
      'memberships_insert_if_new',
      'departures_delete_of_user',
      'notifications_insert_for_members',
      'webhook_deliveries_insert',
      'events_insert',
      'commit',
    ],
  ])
})

it('a change with an Idempotency-Key stores its response before its event and the commit', async () => {
  await visit(member)
  const body = { title: 'A seed', summary: 'About it' }
  const request = { ...post(`${url}/seeds`, body), headers: { 'idempotency-key': randomEmail() } }
  const [key, begun, workspace, ...rest] = await roundTripsOf(member, request)
  expect([key, workspace]).toEqual([['api_keys_select_owners'], ['workspaces_select_by_slug']])
  expect(begun).toHaveLength(1)
  expect(rest).toEqual([
    ['begin', 'seeds_select_similar'],
    [
      'seeds_insert',
      'seed_participants_insert',
      'seed_followers_insert',
      expect.stringMatching(/^update "idempotent_requests"/),
    ],
    ['webhook_deliveries_insert_of_seed', 'events_insert', 'commit'],
  ])
})
