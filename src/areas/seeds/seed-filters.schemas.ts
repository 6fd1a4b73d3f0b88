import { Type, type Static, type TOptional, type TSchema, type TUnsafe } from '@sinclair/typebox'
import { noSeedFilters, type SavedSeedFilters } from '../../domain/saved-filters.ts'
import { idOfCaller, idOfNobody, seedBalances, seedDues, seedSorts } from '../../domain/seeds.ts'
import { closed, described, named, stringEnum } from '../../kernel/schemas.ts'
import { savableFilters } from './seeds.schemas.ts'

/** As in the query of `seeds.list`, where parameters are repeated. */
const asked = {
  ...savableFilters,
  status: described(savableFilters.status, 'Only seeds with one of these statuses.'),
  ids: described(savableFilters.ids, 'Only seeds with these ids.'),
  labelIds: described(savableFilters.labelIds, 'Only seeds with all of these labels.'),
  sort: stringEnum(seedSorts, { description: 'As `sort` of `seeds.list`.' }),
} satisfies Record<keyof SavedSeedFilters, TSchema>

type Nullable = { [Name in keyof SavedSeedFilters]: TUnsafe<SavedSeedFilters[Name]> }
type Given = {
  [Name in keyof SavedSeedFilters]: TOptional<TUnsafe<Static<(typeof asked)[Name]> | null>>
}

/** The filters of other lists by what the seeds are that their items are about. `only` begins the sentence about each. */
export function filtersOfSeeds(only: string) {
  const ofId = (which: string) =>
    Type.Optional(Type.String({ maxLength: 64, description: `${only} ${which}` }))
  const asInList = (name: string) => `${only} that \`${name}\` of \`seeds.list\` chooses.`
  return {
    teamId: ofId('of this team.'),
    labelId: ofId('that have this label.'),
    leadUserId: ofId(`that this person leads; \`${idOfCaller}\`: the caller, \`${idOfNobody}\`: nobody.`),
    balance: Type.Optional(stringEnum(seedBalances, { description: asInList('balance') })),
    due: Type.Optional(stringEnum(seedDues, { description: asInList('due') })),
  }
}

/** Each of them or null, by its name. */
function listNullable(): [name: string, schema: TSchema][] {
  return Object.entries<TSchema>(asked).map(([name, { description = '', ...schema }]) => [
    name,
    Type.Unsafe({ anyOf: [schema, { type: 'null' }], description }),
  ])
}

/** The filters of a saved filter, in responses. */
export const SeedFilters = named<Nullable>(
  'SeedFilters',
  Object.fromEntries(listNullable()) as unknown as Nullable,
  { ...noSeedFilters, status: ['open', 'validating'], leadUserId: idOfCaller, due: 'week' },
  'Filters of lists of seeds, as of `seeds.list`. Null: all seeds. Of a team, a label or a person that is gone, no seed is found.',
)

/** The filters that a body gives to be saved. */
export const givenSeedFilters = closed(
  Object.fromEntries(
    listNullable().map(([name, schema]) => [name, Type.Optional(schema)]),
  ) as unknown as Given,
  { description: 'Filters of `seeds.list`. Absent or null: not asked for.' },
)
