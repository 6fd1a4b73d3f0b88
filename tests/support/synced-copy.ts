import { expect } from 'vitest'
import { get, type TestCompany } from './company.ts'
import type { TestApp, TestPerson } from './test-app.ts'

type Thing = Record<string, unknown>
type Kind =
  | 'member'
  | 'invite'
  | 'team'
  | 'label'
  | 'saved-filter'
  | 'seed'
  | 'evidence'
  | 'comment'
  | 'webhook'
  | 'integration'

interface ShownEvent {
  type: string
  targetType: string
  targetId: string
  data: Record<string, unknown>
}

/** The kinds of things whose ids the fields of events have. Further fields that end in `UserId` are of people. */
const kindOfField: Record<string, Kind> = {
  userId: 'member',
  inviteId: 'invite',
  teamId: 'team',
  labelId: 'label',
  filterId: 'saved-filter',
  seedId: 'seed',
  intoSeedId: 'seed',
  fromSeedId: 'seed',
  evidenceId: 'evidence',
  commentId: 'comment',
  webhookId: 'webhook',
  grantId: 'integration',
}

/** After these, other things of the person may have changed: what names them, and what they took part in. */
const aboutPeople = ['member.updated', 'member.removed', 'member.left', 'person.erased']

/** After these, the seeds with that team or label show another name, or none. */
const aboutSorting = ['team.renamed', 'team.deleted', 'label.updated', 'label.deleted']

/** Not in the feed: what is the reader's own, and times of use. */
const leftOut = new Set([
  'joined',
  'following',
  'seenByMe',
  'lastUsedAt',
  'lastSentAt',
  'delivery',
  'lastActivityAt',
  'lastDeliveryAt',
  'lastFailureAt',
])

/**
 * A copy of a workspace that is kept as docs/first-copy.md says: from lists at first, then by the feed and by reading what its
 * events name, each by its id.
 */
export class SyncedCopy {
  private cursor = 'now'
  private workspace: Thing = {}
  private things = new Map<string, { kind: Kind; thing: Thing }>()
  private readonly as: TestApp['as']
  private readonly reader: TestPerson
  private slug: string

  constructor({ as }: Pick<TestApp, 'as'>, { owner, workspace }: TestCompany) {
    this.as = as
    this.reader = owner
    this.slug = workspace.slug
  }

  /** Makes the first copy. What changes meanwhile is in the feed, which is joined before. */
  async begin(): Promise<void> {
    this.cursor = (await this.read<{ cursor: string }>(`${this.url}/events/changes?after=now`)).cursor
    const { workspace, things } = await this.readLists()
    this.workspace = workspace
    this.things = new Map(things.map(({ kind, thing }) => [idOf(kind, thing), { kind, thing }]))
  }

  /** Applies what has happened. With `isRepeated`, as after a crash: all events since the last call come again. */
  async follow({ isRepeated = false } = {}): Promise<void> {
    const from = this.cursor
    await this.applyAll()
    if (!isRepeated) return
    this.cursor = from
    await this.applyAll()
  }

  /** Expects that the copy is what the lists have now. */
  async expectEqual(): Promise<void> {
    const { workspace, things } = await this.readLists()
    const now = Object.fromEntries(things.map(({ kind, thing }) => [idOf(kind, thing), stripped(thing)]))
    const own = [...this.things]
      // The list of invites has those that are open.
      .filter(
        ([, { kind, thing }]) => kind !== 'invite' || ['pending', 'expired'].includes(String(thing.status)),
      )
      .map(([id, { thing }]) => [id, stripped(thing)] as const)
    expect(Object.fromEntries(own)).toEqual(now)
    expect(this.workspace).toEqual(workspace)
  }

  private get url(): string {
    return `/v1/workspaces/${this.slug}`
  }

  private async applyAll(): Promise<void> {
    for (let hasMore = true; hasMore;) {
      const page = await this.read<{ events: ShownEvent[]; cursor: string; hasMore: boolean }>(
        `${this.url}/events/changes?after=${encodeURIComponent(this.cursor)}`,
      )
      for (const event of page.events) await this.apply(event)
      this.cursor = page.cursor
      hasMore = page.hasMore
    }
  }

  private async apply({ type, targetType, targetId, data }: ShownEvent): Promise<void> {
    if (type === 'workspace.updated') this.slug = (data.to as { slug: string }).slug
    if (targetType === 'workspace') this.workspace = await this.read(this.url)
    for (const [field, value] of Object.entries(data)) {
      const kind = kindOfField[field] ?? (field.endsWith('UserId') ? 'member' : undefined)
      if (kind && typeof value === 'string') await this.renew(kind, value)
    }
    if (type === 'seed.restored') await this.renewPartsOf(targetId)
    if (type === 'seed.merged' || type === 'seed.unmerged')
      for (const [id, { kind, thing }] of this.things)
        if (thing.seedId === data.seedId || thing.seedId === data.fromSeedId) await this.renew(kind, id)
    if (aboutSorting.includes(type))
      for (const [id, { kind, thing }] of this.things)
        if (kind === 'seed' && JSON.stringify(thing).includes(targetId)) await this.renew(kind, id)
    if (!aboutPeople.includes(type)) return
    const { userId } = data
    for (const [id, { kind, thing }] of this.things)
      if (
        kind === 'seed' ||
        kind === 'team' ||
        (kind === 'evidence' && thing.seenByCount !== 0) ||
        JSON.stringify(thing).includes(String(userId))
      )
        await this.renew(kind, id)
  }

  /** Reads a thing by its id, and forgets it if it is gone. */
  private async renew(kind: Kind, id: string): Promise<void> {
    const answer = await this.as(this.reader, get(this.pathOf(kind, id)))
    if (answer.statusCode === 404) {
      this.things.delete(id)
      // With the seed, what is on it is gone, too.
      if (kind === 'seed') this.forgetPartsOf(id)
      return
    }
    expect(answer.statusCode, answer.body).toBe(200)
    const thing = answer.json<Thing>()
    // A seed that was merged is read as the other one.
    if (kind === 'seed' && thing.id !== id) this.things.delete(id)
    this.things.set(idOf(kind, thing), { kind, thing })
  }

  /** The parts of deleted seeds by the ids of those, since they come back with them. */
  private readonly deleted = new Map<string, { kind: Kind; id: string }[]>()

  private forgetPartsOf(seedId: string): void {
    const parts = [...this.things].filter(([, { thing }]) => thing.seedId === seedId)
    if (parts.length === 0) return
    this.deleted.set(
      seedId,
      parts.map(([id, { kind }]) => ({ kind, id })),
    )
    for (const [id] of parts) this.things.delete(id)
  }

  private async renewPartsOf(seedId: string): Promise<void> {
    for (const { kind, id } of this.deleted.get(seedId) ?? []) await this.renew(kind, id)
    this.deleted.delete(seedId)
  }

  private pathOf(kind: Kind, id: string): string {
    if (kind === 'seed') return `/v1/seeds/${id}`
    if (kind === 'evidence' || kind === 'comment')
      return `/v1/${kind === 'comment' ? 'comments' : kind}/${id}`
    return `${this.url}/${kind}s/${id}`
  }

  private async readLists(): Promise<{ workspace: Thing; things: { kind: Kind; thing: Thing }[] }> {
    const list = async (kind: Kind, path: string) =>
      (await this.read<Thing[]>(path)).map((thing) => ({ kind, thing }))
    const seeds = await list('seed', `${this.url}/seeds?limit=200`)
    const lists = [
      seeds,
      await list('member', `${this.url}/members?limit=200`),
      await list('invite', `${this.url}/invites?limit=200`),
      await list('team', `${this.url}/teams?limit=200`),
      await list('label', `${this.url}/labels?limit=200`),
      await list('saved-filter', `${this.url}/saved-filters?limit=200`),
      await list('webhook', `${this.url}/webhooks`),
      await list('integration', `${this.url}/integrations?limit=200`),
      await list('comment', `${this.url}/comments?limit=200`),
    ]
    for (const { thing } of seeds)
      lists.push(
        await list('evidence', `/v1/seeds/${String(thing.id)}/evidence?includeWithdrawn=true&limit=200`),
      )
    return { workspace: await this.read(this.url), things: lists.flat() }
  }

  private async read<Body>(path: string): Promise<Body> {
    const answer = await this.as(this.reader, get(path))
    expect(answer.statusCode, `${path} ${answer.body}`).toBe(200)
    return answer.json<Body>()
  }
}

const idOf = (kind: Kind, thing: Thing) => String(kind === 'member' ? thing.userId : thing.id)

const stripped = (thing: Thing) =>
  Object.fromEntries(Object.entries(thing).filter(([field]) => !leftOut.has(field)))
