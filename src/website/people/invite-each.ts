import type { FastifyRequest } from 'fastify'
import { trimEmail } from '../../kernel/email.ts'
import { ApiError } from '../../kernel/errors.ts'
import { describeError } from '../components/words.ts'

/** The most addresses that one form invites. */
export const addressesMax = 100

/** What happened to an address. */
export interface InviteOutcome {
  email: string
  text: string
  /** The link of the new invite; absent if there is none. */
  inviteUrl?: string
  /** Whether it is worth trying again, later or with another spelling. */
  isOpen: boolean
}

// A quoted name may contain what separates addresses elsewhere (RFC 5322 §3.2.4). Other quotes are matched too, so that no
// part of the text is looked at twice.
const quotedName = /"(?:[^"\\\n]|\\[^\n])*"(\s*<)?|"[^\n]*/g

/**
 * Reads addresses that are separated by commas, semicolons, spaces or lines, also as `Ada <ada@example.com>` and
 * `"Roe, Jane" <jane@example.com>`. Each once.
 */
export function readAddresses(text: string): string[] {
  const found = text
    .replace(quotedName, (quoted, address?: string) => address ?? quoted)
    .split(/[,;\n]/)
    .flatMap((part) => {
      const begin = part.indexOf('<')
      const end = part.indexOf('>', begin)
      return begin !== -1 && end !== -1 ? [part.slice(begin + 1, end).trim()] : part.split(/\s/)
    })
  const byAddress = new Map<string, string>()
  for (const address of found.map(trimEmail)) {
    const key = address.toLowerCase()
    if (key !== '' && !byAddress.has(key)) byAddress.set(key, address)
  }
  return [...byAddress.values()]
}

const teamField = 'team-'

/** The name of the checkbox of a team. */
export const teamFieldOf = (teamId: string) => teamField + teamId

/** The teams whose checkboxes are checked. */
export function readTeamIds({ body }: Pick<FastifyRequest, 'body'>): string[] {
  return Object.keys((body as object | undefined) ?? {})
    .filter((name) => name.startsWith(teamField))
    .map((name) => name.slice(teamField.length))
}

const textsOfCode: Record<string, string> = {
  already_invited: 'Already invited',
  already_member: 'Already a member',
  email_invalid: 'Not an email address',
}

/** Whether all further invites of the workspace would be refused too. */
const isLimit = ({ code }: ApiError) => code === 'too_many_invites'

/**
 * Invites each address, one after the other, and says what happened to it. Throws the errors that do not concern a single
 * address, such as `role_too_high`.
 */
export async function inviteEach(
  addresses: readonly string[],
  create: (address: string) => Promise<{ inviteUrl: string }>,
): Promise<InviteOutcome[]> {
  const outcomes: InviteOutcome[] = []
  let limit: ApiError | undefined
  for (const email of addresses.slice(0, addressesMax)) {
    const result = limit ?? (await tryToInvite(() => create(email)))
    if (result instanceof ApiError && isLimit(result)) limit = result
    outcomes.push(
      result instanceof ApiError ? describeRefusal(email, result) : { email, ...invited, ...result },
    )
  }
  const text = `Not invited: at most ${addressesMax} addresses at once`
  return [...outcomes, ...addresses.slice(addressesMax).map((email) => ({ email, text, isOpen: true }))]
}

const invited = { text: 'Invited', isOpen: false }

async function tryToInvite(
  create: () => Promise<{ inviteUrl: string }>,
): Promise<{ inviteUrl: string } | ApiError> {
  try {
    const { inviteUrl } = await create()
    return { inviteUrl }
  } catch (error) {
    if (error instanceof ApiError && (error.code in textsOfCode || error.tag === 'TooManyRequests'))
      return error
    throw error
  }
}

function describeRefusal(email: string, error: ApiError): InviteOutcome {
  const isOpen = !['already_invited', 'already_member'].includes(error.code)
  return { email, text: textsOfCode[error.code] ?? describeError(error), isOpen }
}
