import type { AskedOfSeeds } from '../../../areas/seeds/seed-lists.ts'
import { idOfCaller, idOfNobody, seedBalances, seedDues } from '../../../domain/seeds.ts'
import { readOneOf } from '../../components/lists.ts'

const leads = [idOfCaller, idOfNobody] as const

/** What the URL of a list asks of the seeds that its items are about; empty: not asked. */
export interface SeedParameters {
  team: string
  label: string
  lead: (typeof leads)[number] | ''
  due: (typeof seedDues)[number] | ''
  balance: (typeof seedBalances)[number] | ''
}

/** Reads what is asked of how seeds are. */
export function readStates(request: { query: unknown }): Pick<SeedParameters, 'lead' | 'due' | 'balance'> {
  return {
    lead: readOneOf(request, 'lead', leads) ?? '',
    due: readOneOf(request, 'due', seedDues) ?? '',
    balance: readOneOf(request, 'balance', seedBalances) ?? '',
  }
}

/** The same as the services take it. */
export function toAskedOfSeeds({ team, label, lead, due, balance }: SeedParameters): AskedOfSeeds {
  return {
    ...(team !== '' && { teamId: team }),
    ...(label !== '' && { labelId: label }),
    ...(lead !== '' && { leadUserId: lead }),
    ...(due !== '' && { due }),
    ...(balance !== '' && { balance }),
  }
}
