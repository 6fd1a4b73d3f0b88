import type { FastifyRequest } from 'fastify'
import { parseJson } from '../../kernel/json-text.ts'
import type { Principal } from '../../domain/principal.ts'
import type { Services } from '../../services/services.ts'
import type { StreamListener } from '../plugins/change-streams.ts'

/** The id of a person's newest notification; `none` without one. */
export async function findNewest(
  { notifications }: Pick<Services, 'notifications'>,
  principal: Principal,
): Promise<string> {
  const [newest] = parseJson((await notifications.list(principal, { limit: 1 })).items)
  return newest?.id ?? 'none'
}

/**
 * Calls `onChange` when the person has a new notification from one of the workspaces that they used last: if `after` is not
 * the newest one, and with each that follows; without `after`, from now on. Each comes with an event of its workspace, in one
 * transaction: so events are watched, and the newest notification is read when there is one. Returns a function that
 * stops it.
 */
export async function watchInbox(
  { principal, visit }: Pick<FastifyRequest, 'principal' | 'visit'>,
  services: Pick<Services, 'events' | 'notifications'>,
  { onChange, onEnd }: StreamListener,
  after: string,
): Promise<() => void> {
  let known = after === '' ? await findNewest(services, principal) : after
  let isAsked = false
  let isLooking = false

  const look = async () => {
    isAsked = true
    if (isLooking) return
    isLooking = true
    // Of many events at once, only the last is looked at.
    while (isAsked) {
      isAsked = false
      const newest = await findNewest(services, principal)
      if (newest !== known) onChange(newest)
      known = newest
    }
    isLooking = false
  }
  // The browser opens the stream again, and then reads the page.
  const lookOrEnd = () => void look().catch(onEnd)

  const watches = await Promise.allSettled(
    (visit.shell?.workspaces ?? []).map(({ slug }) =>
      services.events.watch(principal, slug, { onChange: lookOrEnd, onEnd }),
    ),
  )
  const stop = () => {
    for (const watch of watches) if (watch.status === 'fulfilled') watch.value()
  }
  const failed = watches.find((watch) => watch.status === 'rejected')
  if (failed) {
    stop()
    throw failed.reason
  }
  // For what came before the events were watched.
  lookOrEnd()
  return stop
}
