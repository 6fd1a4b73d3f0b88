import { Type, type Static } from '@sinclair/typebox'
import { savedFiltersMax } from '../../domain/saved-filters.ts'
import { idOfCaller } from '../../domain/seeds.ts'
import { exampleIds, exampleTime } from '../../http/description/examples.ts'
import { listOperation, operation, pathParams, slugParams } from '../../http/description/operation.ts'
import { errors, workspaceErrors } from '../../kernel/errors.ts'
import { closed, exampleOf, line, named, nullableString, ok, ref, timestamp } from '../../kernel/schemas.ts'
import { labelLengthMax } from '../../kernel/text.ts'
import { givenSeedFilters, SeedFilters } from '../seeds/seed-filters.schemas.ts'

export const SavedFilter = named(
  'SavedFilter',
  {
    id: Type.String({ description: 'The id of the saved filter.' }),
    workspaceId: Type.String({ description: 'The id of its workspace.' }),
    name: Type.String({ description: 'The name of the saved filter.' }),
    shared: Type.Boolean({
      description: 'Whether all members see it. Otherwise, its creator alone does.',
    }),
    createdByUserId: nullableString({
      description: 'The person who saved it. Null: they have left the workspace, to which it belongs now.',
    }),
    filters: ref(SeedFilters),
    createdAt: timestamp('When it was saved.'),
    updatedAt: timestamp('When it was last changed.'),
  },
  {
    ...{ id: exampleIds.savedFilter, workspaceId: exampleIds.workspace, name: 'Due this week' },
    ...{ shared: true, createdByUserId: exampleIds.user, filters: exampleOf(SeedFilters) },
    ...{ createdAt: exampleTime, updatedAt: exampleTime },
  },
  'Filters of lists of seeds by a name.',
)
export type SavedFilter = Static<typeof SavedFilter>

const SavedFilterCreation = named(
  'SavedFilterCreation',
  { ok, savedFilter: ref(SavedFilter) },
  { ok: true, savedFilter: exampleOf(SavedFilter) },
)

export const savedFiltersSchemas = [SeedFilters, SavedFilter, SavedFilterCreation]

const filterParams = pathParams('slug', 'filterId')
const fields = {
  name: line(labelLengthMax),
  shared: Type.Boolean({ description: 'Whether all members see it.' }),
  filters: givenSeedFilters,
}
const saverErrors = [...workspaceErrors, errors.roleInsufficient]
const bodyErrors = [
  ...[...saverErrors, errors.savedFilterNameTaken, errors.savedFilterLimit],
  ...[errors.textInvalid, errors.idLimit],
]

export const savedFiltersList = listOperation(
  {
    id: 'savedFilters.list',
    summary: 'List saved filters of seeds',
    description:
      `The caller's own and the shared ones of the workspace, oldest first. There are at most ${savedFiltersMax} of each. ` +
      `In filters, \`${idOfCaller}\` is who reads the list of seeds.`,
    params: slugParams,
    returns: 'A page of saved filters.',
    errors: workspaceErrors,
  },
  { item: SavedFilter },
)

export const savedFiltersGet = operation({
  id: 'savedFilters.get',
  summary: 'Read a saved filter',
  description: "One of the caller's own, or a shared one.",
  params: filterParams,
  success: ref(SavedFilter),
  returns: 'The saved filter.',
  errors: workspaceErrors,
})

export const savedFiltersCreate = operation({
  id: 'savedFilters.create',
  summary: 'Save filters of seeds',
  description:
    `Viewers can save filters for themselves, and members and above share them. Two of a person, or two shared ones of a ` +
    `workspace, cannot have names that differ only in case. There are at most ${savedFiltersMax} of each. Teams, labels, ` +
    'people and seeds in the filters must be of the workspace.',
  params: slugParams,
  body: closed(fields, {
    examples: [{ name: 'Due this week', shared: true, filters: { leadUserId: idOfCaller, due: 'week' } }],
  }),
  success: ref(SavedFilterCreation),
  returns: 'The new saved filter.',
  errors: bodyErrors,
})

export const savedFiltersUpdate = operation({
  id: 'savedFilters.update',
  summary: 'Change a saved filter',
  description:
    'Shared ones are changed by who saved them, if they are members or above, and by owners and admins. Only who saved one ' +
    'ends that it is shared: others no longer see it then. `filters` takes the place of all filters.',
  params: filterParams,
  body: closed(
    {
      name: Type.Optional(fields.name),
      shared: Type.Optional(fields.shared),
      filters: Type.Optional(fields.filters),
    },
    { examples: [{ name: 'Due soon' }] },
  ),
  errors: [...bodyErrors, errors.notTheAuthor],
})

export const savedFiltersDelete = operation({
  id: 'savedFilters.delete',
  summary: 'Delete a saved filter',
  description: 'Shared ones by who saved them, if they are members or above, and by owners and admins.',
  params: filterParams,
  errors: saverErrors,
})
