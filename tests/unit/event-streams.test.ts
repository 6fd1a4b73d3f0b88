import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createEventStreams, streamBatchMax, type Follower } from '../../src/areas/events/event-streams.ts'
import type { FeedRows } from '../../src/areas/events/event-feed.repository.ts'
import { startOfFeed } from '../../src/domain/event-cursors.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const everything = { showsInvites: true, grantsOf: undefined }
const workspaceId = 'w'

/** A workspace whose number of events the test sets, and streams of it. */
function start() {
  const feed = { last: 0 }
  const polls = new Set<(last: number) => void>()
  const rowsBehind = (after: number, limit = streamBatchMax): FeedRows => {
    const positions = Array.from({ length: Math.min(feed.last - after, limit) }, (_, i) => after + i + 1)
    const placeOf = (position: number) =>
      position === 0 ? startOfFeed(workspaceId) : { position, id: `e${position}` }
    return {
      text: positions
        .map((position) => JSON.stringify({ id: `e${position}`, type: position % 2 ? 'odd' : 'even' }))
        .join(',\n'),
      count: positions.length,
      positions,
      after: placeOf(after),
      until: placeOf(feed.last),
      last: feed.last,
    }
  }
  const read = vi.fn(async ({ after }: { after: number }) => rowsBehind(after))
  const onReadError = vi.fn()
  const streams = createEventStreams({
    watcher: {
      follow(_id, onPosition) {
        polls.add(onPosition)
        return () => polls.delete(onPosition)
      },
    },
    read,
    onReadError,
  })
  const open = (input: Partial<Follower> = {}) => {
    const received: string[] = []
    const ended = vi.fn()
    const check = vi.fn(async (): Promise<Follower['view'] | undefined> => input.view ?? everything)
    const room = { isThere: true }
    const stream = streams.open(
      {
        workspaceId,
        view: everything,
        isWanted: () => true,
        check,
        listener: {
          onEvents: (events) =>
            received.push(...events.map(({ json }) => (JSON.parse(json) as { id: string }).id)),
          hasRoom: () => room.isThere,
          onEnd: ended,
        },
        ...input,
      },
      rowsBehind(feed.last),
    )
    return { ...stream, received, ended, check, room }
  }
  /** What happens each second, until all is read. */
  const poll = async () => {
    for (const onPosition of polls) onPosition(feed.last)
    await vi.advanceTimersByTimeAsync(0)
    for (let i = 0; i < 50; i++) await Promise.resolve()
  }
  return { feed, polls, read, onReadError, open, poll }
}

it('reads new events once for all streams with the same view', async () => {
  const { feed, read, open, poll } = start()
  const streams = [open(), open(), open({ isWanted: ({ type }) => type === 'even' })]
  const other = open({ view: { showsInvites: false, grantsOf: 'u' } })
  feed.last = 3
  await poll()
  expect(read).toHaveBeenCalledTimes(2)
  expect(streams.map(({ received }) => received)).toEqual([['e1', 'e2', 'e3'], ['e1', 'e2', 'e3'], ['e2']])
  expect(other.received).toEqual(['e1', 'e2', 'e3'])
  await poll()
  expect(read).toHaveBeenCalledTimes(2)
})

it('reads one batch after the other until all is read', async () => {
  const { feed, read, open, poll } = start()
  const { received } = open()
  feed.last = streamBatchMax * 2 + 1
  await poll()
  expect(read).toHaveBeenCalledTimes(3)
  expect(new Set(received).size).toBe(feed.last)
  expect(received).toHaveLength(feed.last)
})

it('waits for room, and goes on when there is some', async () => {
  const { feed, read, open, poll } = start()
  const stream = open()
  stream.room.isThere = false
  feed.last = 1
  await poll()
  expect(read).not.toHaveBeenCalled()
  stream.room.isThere = true
  stream.onRoom()
  await poll()
  expect(stream.received).toEqual(['e1'])
})

it('sends nothing to those who may no longer read it, and checks all once a minute', async () => {
  const { feed, open, poll } = start()
  const [stays, ends, endsIdle] = [open(), open(), open()]
  ends.check.mockResolvedValueOnce(undefined)
  feed.last = 1
  await poll()
  expect([stays.received, ends.received, ends.ended.mock.calls.length]).toEqual([['e1'], [], 1])
  endsIdle.check.mockClear().mockResolvedValueOnce(undefined)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(endsIdle.check).toHaveBeenCalledTimes(1)
  expect([stays, endsIdle].map(({ ended }) => ended.mock.calls.length)).toEqual([0, 1])
})

it('reports an outage once, and sends the events afterwards', async () => {
  const { feed, read, onReadError, open, poll } = start()
  const { received, ended } = open()
  const failure = new Error('the database is away')
  for (let i = 0; i < 3; i++) read.mockRejectedValueOnce(failure)
  feed.last = 1
  for (let i = 0; i < 3; i++) await poll()
  expect(onReadError.mock.calls).toEqual([[failure]])
  expect(received).toEqual([])
  await poll()
  expect([received, ended.mock.calls.length]).toEqual([['e1'], 0])
})

it('does nothing when the last stream has stopped', async () => {
  const { polls, open } = start()
  const [first, second] = [open(), open()]
  expect(polls.size).toBe(1)
  first.stop()
  expect(polls.size).toBe(1)
  second.stop()
  expect([polls.size, vi.getTimerCount()]).toEqual([0, 0])
})
