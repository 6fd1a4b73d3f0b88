import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { changesOfAgents, toPrincipal } from '../../src/domain/agent.ts'
import type { Principal } from '../../src/domain/principal.ts'
import { randomEmail } from '../support/company.ts'
import { insertGrant } from '../support/seeds.ts'
import { selectRows } from '../support/test-app.ts'
import { addMember, randomSlug } from '../support/workspaces.ts'
import { signUp, startWebsite, type Visitor } from './visitor.ts'

const website = await startWebsite()
const { db, services } = website

async function signUpAs(name: string) {
  const email = randomEmail()
  const visitor = await signUp(website, { name, email })
  const user = await services.accounts.findByEmail(email)
  if (!user) throw new Error('the person is not there')
  return { visitor, id: user.id, name, email, user }
}

const olga = await signUpAs('Olga')
const mary = await signUpAs('Mary')
const slug = randomSlug()
const base = `/w/${slug}`
await olga.visitor.get('/onboarding')
await olga.visitor.submit('/onboarding', { name: 'Acme', slug })
const [row] = await selectRows<{ id: string }>(db, sql`select id from workspaces where slug = ${slug}`)
const workspace = { id: String(row?.id), name: 'Acme', slug }
await addMember(website, workspace, mary, 'member')

const principalOf = ({ user }: typeof olga): Principal => ({
  ...{ user, source: 'web' as const, apiKeyId: null, sessionId: null, grantId: null },
})

/** The sentences of the activity on a page, with the targets of their links. */
function sentencesOn(page: string): string[] {
  return [...page.matchAll(/<p class="event">.*?<bdi dir="ltr">(.*?)<\/bdi\s*><span/gs)].map(
    ([, text = '']) =>
      text
        .replaceAll(/<a href="([^"]*)"\s*><bdi>(.*?)<\/bdi\s*><\/a\s*>/gs, '[$2]($1)')
        .replaceAll(/<\/?bdi[^>]*>/g, '')
        .replaceAll(/\s+/g, ' ')
        .trim(),
  )
}

const sentencesAt = async ({ visitor }: { visitor: Visitor }, path: string) =>
  sentencesOn((await visitor.get(path)).body)

describe('activity', () => {
  it('every page links the people, seeds, teams and agents that an event names', async () => {
    const { evidence, seeds, teams, members } = services
    const seed = await seeds.create(principalOf(mary), slug, {
      title: 'open',
      summary: 'A title of one word.',
    })
    await seeds.update(principalOf(mary), seed.id, { status: 'dropped' })
    await seeds.update(principalOf(mary), seed.id, { status: 'open' })
    await seeds.leave(principalOf(mary), seed.id)
    await seeds.join(principalOf(mary), seed.id)
    await evidence.add(principalOf(mary), seed.id, {
      ...{ kind: 'note', verdict: 'neutral', summary: 'A finding' },
    })
    const team = await teams.create(principalOf(olga), slug, { name: 'Makers' })
    const hook = { url: 'https://hooks.example.com/acme' }
    const { webhook } = await services.webhooks.create(principalOf(olga), slug, hook)
    await members.updateRole(principalOf(olga), slug, mary.id, { role: 'admin' })
    const [ofMary, ofOlga] = [`[Mary](${base}/people/${mary.id})`, `[Olga](${base}/people/${olga.id})`]
    const linked = `[open](${base}/seeds/${seed.id})`
    const ofSeed = [
      `${ofMary} joined the seed ${linked}`,
      `${ofMary} stepped down as the lead of the seed ${linked}`,
      `${ofMary} left the seed ${linked}`,
      `${ofMary} changed the status of the seed ${linked} from dropped to open`,
      `${ofMary} changed the status of the seed ${linked} from open to dropped`,
      `${ofMary} created the seed ${linked}`,
    ]
    const withEvidence = [`${ofMary} added a note that is neutral about the seed ${linked}`, ...ofSeed]
    const all = await sentencesAt(mary, `${base}/activity`)
    expect(all).toEqual(
      expect.arrayContaining([
        ...withEvidence,
        `${ofOlga} created the team [Makers](${base}/teams/${team.id})`,
        `${ofOlga} added a webhook to [hooks.example.com](${base}/settings/webhooks/${webhook.id})`,
      ]),
    )
    expect(all.find((text) => text.includes('the role of'))).toContain(`the role of ${ofMary} `)
    expect(await sentencesAt(mary, base)).toEqual(expect.arrayContaining(ofSeed.slice(0, 2)))
    expect(await sentencesAt(olga, `${base}/people/${mary.id}`)).toEqual(expect.arrayContaining(withEvidence))
    // Its page does not repeat the title.
    expect(await sentencesAt(olga, `${base}/seeds/${seed.id}`)).toEqual([
      `${ofMary} joined the seed`,
      `${ofMary} stepped down as the lead of the seed`,
      `${ofMary} left the seed`,
      `${ofMary} changed the status of the seed from dropped to open`,
      `${ofMary} changed the status of the seed from open to dropped`,
      `${ofMary} created the seed`,
    ])
    await teams.delete(principalOf(olga), { slug, teamId: team.id })
    expect(await sentencesAt(olga, `${base}/activity`)).toContain(`${ofOlga} created the team Makers`)
  })

  it('keeps the link and the titles of then when a seed is renamed twice', async () => {
    const seed = await services.seeds.create(principalOf(mary), slug, { title: 'A', summary: 'Short.' })
    await services.evidence.add(principalOf(mary), seed.id, {
      ...{ kind: 'note', verdict: 'supports', summary: 'A finding' },
    })
    await services.seeds.update(principalOf(mary), seed.id, { title: 'the seed of A' })
    await services.seeds.update(principalOf(mary), seed.id, { title: 'B', problem: 'None' })
    await services.seeds.update(principalOf(mary), seed.id, { leadUserId: null })
    const [ofMary, link] = [`[Mary](${base}/people/${mary.id})`, `(${base}/seeds/${seed.id})`]
    const sentences = [
      `${ofMary} stepped down as the lead of the seed [B]${link}`,
      `${ofMary} changed the seed [B]${link}: the title from the seed of A to [B]${link} and the problem`,
      `${ofMary} changed the title of the seed from A to [the seed of A]${link}`,
      `${ofMary} added a note that supports the seed [A]${link}`,
      `${ofMary} created the seed [A]${link}`,
    ]
    for (const path of [`${base}/activity`, base, `${base}/people/${mary.id}`])
      expect((await sentencesAt(olga, path)).slice(0, 5), path).toEqual(sentences)
    expect(await sentencesAt(olga, `${base}/seeds/${seed.id}`)).toEqual([
      `${ofMary} stepped down as the lead of the seed`,
      `${ofMary} changed the seed: the title from the seed of A to B and the problem`,
      `${ofMary} changed the title of the seed from A to the seed of A`,
      `${ofMary} created the seed`,
    ])
  })

  it('has the stored sentence, without links, for an event whose data do not say enough', async () => {
    const summary = 'Mary created the seed open'
    await db.execute(sql`insert into events
      (id, workspace_id, type, actor_type, actor_user_id, actor_name, source, summary, created_at)
      values (gen_random_uuid(), ${workspace.id}, 'seed.created', 'user', ${mary.id}, 'Mary', 'web', ${summary}, now())`)
    expect((await sentencesAt(olga, `${base}/activity`))[0]).toBe(summary)
  })

  it('links agents whose access has ended, but neither people who have left nor their agents', async () => {
    const gone = await signUpAs('Gone')
    await addMember(website, workspace, gone, 'member')
    await services.seeds.create(principalOf(gone), slug, { title: 'Left behind', summary: 'It stays.' })
    const ended = await insertGrant(website, workspace, mary, { clientName: 'Ended agent' })
    await services.grants.revoke(principalOf(mary), slug, ended.id)
    const grant = await insertGrant(website, workspace, gone, { clientName: 'Old agent' })
    await services.grants.revoke(principalOf(gone), slug, grant.id)
    await services.members.remove(principalOf(gone), slug, gone.id)
    const all = await sentencesAt(olga, `${base}/activity`)
    expect(all).toContain('Gone revoked the access of Old agent')
    expect(all).toContain(
      `[Mary](${base}/people/${mary.id}) revoked the access of [Ended agent](${base}/agents/${ended.id})`,
    )
    const [left, created] = all.filter((text) => text.includes('Left behind'))
    expect(left).toMatch(/^Gone stepped down as the lead of the seed \[Left behind\]/)
    expect(created).toMatch(/^Gone created the seed \[Left behind\]/)
  })
})

describe('a change made by an agent', () => {
  it('appears once in lists, though two events are stored, and names scopes as the consent page does', async () => {
    const { id: grantId } = await insertGrant(website, workspace, mary, { clientName: 'Claude Code' })
    await services.grants.updateScopes(principalOf(mary), slug, grantId, ['workspace:read', 'seeds:write'])
    const agent = toPrincipal({
      grant: {
        id: grantId,
        clientId: 'x',
        clientName: 'Claude Code',
        scopes: [],
        consentVersion: 0,
        membersMayAsk: false,
        expiresAt: new Date(),
      },
      ...{ user: mary.user, workspace, role: 'member' },
    })
    await services.seeds.create(agent, slug, { title: 'By a program', summary: 'It does.' })
    for (const [tool, did] of [
      ['create_seed', changesOfAgents.create_seed],
      ['read_validation_kit', 'read the validation kit'],
    ])
      await db.execute(sql`insert into events
        (id, workspace_id, type, actor_type, actor_user_id, actor_name, grant_id, source, target_type, target_id, summary, data, created_at)
        values (gen_random_uuid(), ${workspace.id}, 'integration.used', 'agent', ${mary.id}, 'Mary', ${grantId}, 'mcp',
          'integration', ${grantId}, 'x',
          ${JSON.stringify({ grantId, clientName: 'Claude Code', userId: mary.id, tool, did })}::jsonb, now())`)
    const agents = `[Claude Code](${base}/agents/${grantId})`
    const ofMary = `[Mary](${base}/people/${mary.id})`
    const repeated = `${ofMary}, through ${agents}, created a seed`
    for (const path of [base, `${base}/activity`, `${base}/people/${mary.id}`]) {
      const sentences = await sentencesAt(mary, path)
      expect(sentences).toContain(`${ofMary}, through ${agents}, read the validation kit`)
      expect(sentences).not.toContain(repeated)
      expect(sentences.filter((text) => text.includes('By a program'))).toHaveLength(1)
    }
    expect(await sentencesAt(mary, `${base}/activity?type=integration.used`)).toContain(repeated)
    expect(await sentencesAt(mary, `${base}/activity`)).toContain(
      `[Mary](${base}/people/${mary.id}) changed the access of ${agents} to “Read seeds and their evidence”, ` +
        '“Read people, activity, comments and your inbox”, “Create, change, join, leave and follow seeds, ask people to join them, write comments, ' +
        'add, correct and withdraw evidence, edit and delete comments and delete seeds of its own, mark your notifications as read, and be asked by comments”',
    )
  })

  it('has a description for each tool that is not read-only, and for no other tool', () => {
    const changing = services.agentTools.filter(({ hints }) => !hints.readOnlyHint)
    expect(Object.fromEntries(changing.map(({ name, did }) => [name, did]))).toEqual(changesOfAgents)
  })
})

describe('the agents page', () => {
  it('tells a member without agents that none of theirs has access', async () => {
    const member = await signUpAs('Mo')
    await addMember(website, workspace, member, 'member')
    const { body } = await member.visitor.get(`${base}/agents`)
    expect(body).toContain('No agent of yours has access now.')
    expect(body).not.toContain('No agent has access')
  })
})
