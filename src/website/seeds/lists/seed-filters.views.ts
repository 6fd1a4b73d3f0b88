import {
  idOfCaller,
  idOfNobody,
  seedBalances,
  seedDues,
  silentDays,
  type SeedBalance,
  type SeedDue,
} from '../../../domain/seeds.ts'
import { renderSelect } from '../../components/forms.ts'
import type { Html } from '../../components/html.ts'

const dueNames: Record<SeedDue, string> = {
  overdue: 'Overdue',
  week: 'Within 7 days',
  silent: `No evidence for ${silentDays} days`,
}

const balanceNames: Record<SeedBalance, string> = {
  for: 'More for than against',
  against: 'More against than for',
  even: 'As much for as against',
  none: 'No evidence',
}

/** The filter of a list by when seeds are due. */
export function renderDueFilter(due: string): Html {
  return renderSelect({
    name: 'due',
    label: 'Due',
    value: due,
    choices: [
      { value: '', label: 'At any time' },
      ...seedDues.map((value) => ({ value, label: dueNames[value] })),
    ],
  })
}

/** The filter of a list by what the evidence of seeds says on balance. */
export function renderBalanceFilter(balance: string): Html {
  return renderSelect({
    name: 'balance',
    label: 'Evidence',
    value: balance,
    choices: [
      { value: '', label: 'Any balance' },
      ...seedBalances.map((value) => ({ value, label: balanceNames[value] })),
    ],
  })
}

/** The filter of a list by who leads seeds. */
export function renderLeadFilter(lead: string): Html {
  return renderSelect({
    name: 'lead',
    label: 'Lead',
    value: lead,
    choices: [
      { value: '', label: 'Anyone' },
      { value: idOfCaller, label: 'Led by me' },
      { value: idOfNobody, label: 'Without a lead' },
    ],
  })
}
