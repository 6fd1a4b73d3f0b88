import { error } from './error.ts'

/** What agents may not do, and what cannot be asked of them. */
export const errorsOfAgents = {
  agentTokenRequired: error(
    'Unauthorized',
    'agent_token_required',
    'A valid access token of an agent is required. API keys are not accepted here.',
    'The request has no access token, or the token is invalid, expired or revoked, or is an API key.',
  ),
  insufficientScope: error(
    'Forbidden',
    'insufficient_scope',
    'The person did not allow this agent to do this.',
    'The grant of the agent lacks the scope of the operation or tool. `WWW-Authenticate` names the scopes to ask the person for (RFC 6750 section 3.1).',
  ),
  connectionReadOnly: error(
    'Forbidden',
    'connection_read_only',
    'This connection of the agent only reads.',
    'Over MCP only: the request has the header `X-MCP-Readonly`, and calls a tool that makes changes.',
  ),
  notConfirmed: error(
    'Forbidden',
    'not_confirmed',
    'Your person did not agree. Nothing was changed. Do not call it again unless they ask for it.',
    'Over MCP only: the person was asked by the client of the agent, and declined or closed the question.',
  ),
  confirmationInvalid: error(
    'Forbidden',
    'confirmation_invalid',
    'This answer of your person has expired, or is to another call. Nothing was changed. Call the tool again to ask them.',
    'Over MCP only: the `requestState` of a call has expired, was altered, or is of another tool, other arguments or another grant.',
  ),
  consentExpired: error(
    'NotFound',
    'consent_expired',
    'This request for access has expired or was already answered. If the agent is not connected, start again there.',
    'Website only: the request of an agent has expired or was already answered, or belongs to another browser.',
  ),
  tooManyAuthorizations: error(
    'TooManyRequests',
    'too_many_authorizations',
    'Too many requests for access. Try again later.',
    'OAuth only, as `temporarily_unavailable`: the client address has sent more authorization requests than `AUTHORIZE_LIMIT_PER_MINUTE`. Retry after `Retry-After` seconds.',
  ),
  tooManyRefreshes: error(
    'TooManyRequests',
    'too_many_refreshes',
    'Too many refreshes. Try again later.',
    'OAuth only, as `temporarily_unavailable`: an installation of the agent has exchanged more refresh tokens than `REFRESH_LIMIT_PER_HOUR`. Retry after `Retry-After` seconds.',
  ),
  tooManyRefusedTokens: error(
    'TooManyRequests',
    'too_many_refused_tokens',
    'Too many refused requests from this address. Try again later.',
    'OAuth only, as `temporarily_unavailable`: the client address has sent more requests for tokens, or to revoke them, that were refused than `REFUSED_TOKEN_LIMIT_PER_MINUTE`. Retry after `Retry-After` seconds.',
  ),
  tooManyAsked: error(
    'TooManyRequests',
    'too_many_asked',
    'An agent asks at most 20 people to join seeds in 24 hours.',
    'The agent has asked 20 people to join seeds in the last 24 hours. Retry after `Retry-After` seconds.',
  ),
  agentBusy: error(
    'Conflict',
    'agent_busy',
    'This agent has too many open requests. Ask again once it has answered some.',
    'A comment asks an agent for which 20 requests wait.',
  ),
  askLimit: error(
    'TooManyRequests',
    'ask_limit',
    'You have asked agents too often today. Ask again later.',
    'A person asks agents more than 20 times in 24 hours in a workspace.',
  ),
  requestNotWaiting: error(
    'Conflict',
    'request_not_waiting',
    'This request does not wait for an answer any more.',
    'A request to an agent is answered, declined or cancelled that was before, or that has expired.',
  ),
}
