import { error } from './error.ts'

/** What is wrong with webhooks. */
export const errorsOfWebhooks = {
  webhookUrlInvalid: error(
    'InvalidInput',
    'webhook_url_invalid',
    'Enter an https URL without a user name and password.',
    '`url` is not an https URL, or contains a user name or password. Outside of production, http is allowed for this machine.',
  ),
  eventTypeUnknown: error(
    'InvalidInput',
    'event_type_unknown',
    'One of the types of events does not exist.',
    '`types` contains a type that is not in `/docs/guides/events`, or an empty one.',
  ),
  webhookLimit: error(
    'Conflict',
    'webhook_limit',
    'The workspace already has 20 webhooks. Delete one first.',
    'The workspace already has 20 webhooks.',
  ),
  webhookDisabled: error(
    'Conflict',
    'webhook_disabled',
    'The webhook is disabled. Enable it first.',
    'Events would be sent again to a webhook that is disabled.',
  ),
  webhookRotated: error(
    'Conflict',
    'webhook_rotated',
    'Three former secrets of the webhook still sign requests. Wait until one of them ends, or end them all with an overlap of 0.',
    'The secret was rotated three times, and the overlaps of all three rotations last.',
  ),
  tooManyDeliveries: error(
    'Conflict',
    'too_many_deliveries',
    'There are more than 10,000 events in this time. Choose a shorter one.',
    'The webhook would get more than 10,000 events of the time from `since` to `until`.',
  ),
}
