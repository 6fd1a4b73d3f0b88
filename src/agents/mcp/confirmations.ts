import { createHash } from 'node:crypto'
import { inputRequired, inputResponse, type InputRequiredResult } from '@modelcontextprotocol/server'
import type { AgentPrincipal } from '../../domain/agent.ts'
import type { Clock } from '../../kernel/clock.ts'
import { errors } from '../../kernel/errors.ts'

/** Of a call over MCP: what its client can do, and what it brings along from the round before. */
export interface CallRound {
  envelope?: Readonly<Record<string, unknown>> | undefined
  inputResponses?: Record<string, unknown> | undefined
  requestState: () => unknown
}

/** A call that a person may have to confirm. */
export interface ConfirmedCall {
  agent: AgentPrincipal
  tool: string
  input: object
}

export interface ConfirmationsOptions {
  /** Seals what comes back from the client with the answer of the person. */
  box: { seal(text: string): Buffer; open(sealed: Buffer): string | undefined }
  clock: Clock
  /** Uses a confirmation, by its SHA-256. Of parallel calls, only one returns true. */
  useConfirmation: (used: { challengeHash: Buffer; expiresAt: Date }) => Promise<boolean>
}

/** Asks people before an agent does something that cannot be undone, or that lets a stranger in. */
export interface Confirmations {
  /** Whether the client of a call asks its person what a server wants to know. */
  canAsk(round: CallRound): boolean
  /**
   * What asks the person; undefined once they have agreed, or if there is nothing to ask. Throws `not_confirmed` if they
   * have not agreed, and `confirmation_invalid` for an answer that is old, was used, or is to another call.
   */
  ask(
    call: ConfirmedCall,
    round: CallRound,
    describe: () => Promise<string | undefined>,
  ): Promise<InputRequiredResult | undefined>
}

/** How long a person has to answer. */
export const confirmationMs = 10 * 60 * 1000

const responseKey = 'confirm'
const capabilitiesKey = 'io.modelcontextprotocol/clientCapabilities'

/**
 * Asks by elicitation, in the revision whose calls say what their client can do: the answer comes with a second call, which
 * any process may get. So the state is sealed: it is good for the same call of the same grant, once and for a while
 * (docs/design/tools.md#confirmation).
 */
export function createConfirmations({ box, clock, useConfirmation }: ConfirmationsOptions): Confirmations {
  const seal = (call: ConfirmedCall) =>
    box.seal(JSON.stringify([digestOf(call), clock.now().getTime() + confirmationMs])).toString('base64url')

  /** What a state is used up as; undefined if it is not of the call, or too old. */
  function open(call: ConfirmedCall, state: unknown): { challengeHash: Buffer; expiresAt: Date } | undefined {
    if (typeof state !== 'string') return undefined
    const sealed = Buffer.from(state, 'base64url')
    const text = box.open(sealed)
    if (text === undefined) return undefined
    const [digest, endsAt] = JSON.parse(text) as [string, number]
    if (digest !== digestOf(call) || clock.now().getTime() >= endsAt) return undefined
    return { challengeHash: createHash('sha256').update(sealed).digest(), expiresAt: new Date(endsAt) }
  }

  return {
    canAsk({ envelope }) {
      const declared = envelope?.[capabilitiesKey] as { elicitation?: object } | undefined
      const { elicitation } = declared ?? {}
      if (typeof elicitation !== 'object') return false
      // Without a mode it is that of forms. A page is not enough.
      return 'form' in elicitation || !('url' in elicitation)
    },

    async ask(call, round, describe) {
      const state = round.requestState()
      const answer = inputResponse(round.inputResponses, responseKey)
      const opened = open(call, state)
      if (state !== undefined && !opened) throw errors.confirmationInvalid()
      if (opened && answer.kind === 'elicit') {
        if (answer.action !== 'accept') throw errors.notConfirmed()
        if (!(await useConfirmation(opened))) throw errors.confirmationInvalid()
        return undefined
      }
      const message = await describe()
      if (message === undefined) return undefined
      return inputRequired({
        inputRequests: {
          [responseKey]: inputRequired.elicit({
            message,
            // Accepting or declining is the answer.
            requestedSchema: { type: 'object', properties: {} },
          }),
        },
        requestState: seal(call),
      })
    },
  }
}

/** Identifies a call: that of another grant, or with other arguments, has another. */
function digestOf({ agent, tool, input }: ConfirmedCall): string {
  const given = Object.entries(input)
    .filter(([, value]) => value !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1))
  return createHash('sha256')
    .update(JSON.stringify([agent.grant.id, tool, given]))
    .digest('base64url')
}
