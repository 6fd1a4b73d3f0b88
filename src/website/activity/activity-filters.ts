import type { EventsRequest } from '../../areas/events/events.service.ts'
import { isId } from '../../kernel/ids.ts'
import { readQuery } from '../components/lists.ts'
import { isTimeZone, startOfDay } from '../components/time-zones.ts'
import { eventTypeNames } from '../views/events.views.ts'
import { readStates, toAskedOfSeeds, type SeedParameters } from '../seeds/lists/seed-filters.ts'
import { readSearch } from '../views/search-form.views.ts'

const dayMs = 24 * 60 * 60 * 1000

/** What the URL of the activity asks for. Parameters that are invalid are empty. */
export interface ActivityFilters {
  parameters: SeedParameters & {
    type: string
    actor: string
    /** The grant of an agent. */
    agent: string
    seed: string
    from: string
    to: string
    zone: string
  }
  /** What the person typed to find somebody. */
  person: string
  /** What the person typed to find a seed. */
  about: string
  notices: string[]
}

/** Reads the filters of a URL. What is wrong with them is said in `notices`. */
export function readFilters(request: { query: unknown }): ActivityFilters {
  const notices: string[] = []
  const read = (name: string, isValid: (value: string) => boolean, notice: string) => {
    const value = readQuery(request, name)
    if (value === '' || isValid(value)) return value
    notices.push(notice)
    return ''
  }
  const parameters = {
    type: read(
      'type',
      (type) => Object.hasOwn(eventTypeNames, type),
      'That kind of activity does not exist.',
    ),
    actor: read('actor', isId, 'That person does not exist.'),
    agent: read('agent', isId, 'That agent does not exist.'),
    seed: read('seed', isId, 'That seed does not exist.'),
    team: read('team', isId, 'That team does not exist.'),
    label: read('label', isId, 'That label does not exist.'),
    ...readStates(request),
    from: read('from', isDay, 'The first day is not a date.'),
    to: read('to', isDay, 'The last day is not a date.'),
    // public/site.js sets it. Without it, days are in UTC.
    zone: isTimeZone(readQuery(request, 'zone')) ? readQuery(request, 'zone') : '',
  }
  if (parameters.from !== '' && parameters.to !== '' && parameters.from > parameters.to)
    notices.push('The first day is after the last day.')
  const person = parameters.actor === '' ? readSearch(request, { name: 'person' }) : ''
  const about = parameters.seed === '' ? readSearch(request, { name: 'about' }) : ''
  return { parameters, person, about, notices }
}

/** Whether a text is a day of a four-digit year, as `YYYY-MM-DD`. */
function isDay(text: string): boolean {
  if (!/^[1-9]\d{3}-\d\d-\d\d$/.test(text)) return false
  const time = Date.parse(text)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}

/** The events that the filters choose. */
export function toEventsRequest(parameters: ActivityFilters['parameters']): EventsRequest {
  const { type, actor, agent, seed, from, to, zone } = parameters
  return {
    ...(type !== '' && { type }),
    ...(actor !== '' && { actorUserId: actor }),
    ...(agent !== '' && { grantId: agent }),
    ...(seed !== '' && { seedId: seed }),
    ...toAskedOfSeeds(parameters),
    ...(from !== '' && { since: startOfDay(from, zone) }),
    // The last day is included.
    ...(to !== '' && {
      until: startOfDay(new Date(Date.parse(to) + dayMs).toISOString().slice(0, 10), zone),
    }),
  }
}
