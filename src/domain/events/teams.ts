import { Type } from '@sinclair/typebox'
import { exampleIds } from '../example-ids.ts'
import { person, examplePerson } from './people.ts'
import { id, text, kind } from './kind.ts'

const team = { teamId: id('the team'), teamName: text('The name of the team at the time.') }

const exampleTeam = { teamId: exampleIds.team, teamName: 'Research' }

const label = { labelId: id('the label'), labelName: text('The name of the label at the time.') }

const savedFilter = {
  filterId: id('the saved filter'),
  filterName: text('The name of the saved filter at the time.'),
}

const exampleSavedFilter = { filterId: exampleIds.savedFilter, filterName: 'Due this week' }

const exampleLabel = { labelId: exampleIds.label, labelName: 'Pricing' }

/** What happens to teams, labels and shared filters. */
export const teamEvents = {
  'team.created': kind(team, {
    readers: 'everybody',
    target: ['team', 'teamId'],
    summarize: ({ teamName }, actor) => `${actor} created the team ${teamName}`,
    example: exampleTeam,
  }),
  'team.renamed': kind(
    { teamId: team.teamId, from: text('The name before.'), to: text('The name now.') },
    {
      readers: 'everybody',
      target: ['team', 'teamId'],
      names: { from: '', to: 'teamId' },
      summarize: ({ from, to }, actor) => `${actor} renamed the team ${from} to ${to}`,
      example: { teamId: exampleIds.team, from: 'Research', to: 'Discovery' },
    },
  ),
  'team.deleted': kind(team, {
    readers: 'everybody',
    target: ['team', 'teamId'],
    summarize: ({ teamName }, actor) => `${actor} deleted the team ${teamName}`,
    example: exampleTeam,
  }),
  'team.member_added': kind(
    { ...team, ...person, isSelf: Type.Boolean({ description: 'Whether they did it themselves.' }) },
    {
      readers: 'everybody',
      target: ['team', 'teamId'],
      summarize: ({ teamName, name, isSelf }, actor) =>
        isSelf ? `${actor} joined the team ${teamName}` : `${actor} added ${name} to the team ${teamName}`,
      example: { ...exampleTeam, ...examplePerson, isSelf: false },
    },
  ),
  'team.member_removed': kind(
    { ...team, ...person, isSelf: Type.Boolean({ description: 'Whether they did it themselves.' }) },
    {
      readers: 'everybody',
      target: ['team', 'teamId'],
      summarize: ({ teamName, name, isSelf }, actor) =>
        isSelf ? `${actor} left the team ${teamName}` : `${actor} removed ${name} from the team ${teamName}`,
      example: { ...exampleTeam, ...examplePerson, isSelf: false },
    },
  ),
  'label.created': kind(label, {
    readers: 'everybody',
    target: ['label', 'labelId'],
    summarize: ({ labelName }, actor) => `${actor} created the label ${labelName}`,
    example: exampleLabel,
  }),
  'label.updated': kind(
    { labelId: label.labelId, from: text('The name before.'), to: text('The name now.') },
    {
      readers: 'everybody',
      target: ['label', 'labelId'],
      names: { from: '', to: 'labelId' },
      summarize: ({ from, to }, actor) => `${actor} renamed the label ${from} to ${to}`,
      example: { labelId: exampleIds.label, from: 'Pricing', to: 'Prices' },
    },
  ),
  'label.deleted': kind(label, {
    readers: 'everybody',
    target: ['label', 'labelId'],
    summarize: ({ labelName }, actor) => `${actor} deleted the label ${labelName}`,
    example: exampleLabel,
  }),
  'saved_filter.created': kind(savedFilter, {
    readers: 'everybody',
    target: ['saved_filter', 'filterId'],
    summarize: ({ filterName }, actor) => `${actor} shared the saved filter ${filterName}`,
    example: exampleSavedFilter,
  }),
  'saved_filter.updated': kind(
    {
      filterId: savedFilter.filterId,
      from: text('The name before.'),
      to: text('The name now.'),
      filtersChanged: Type.Boolean({ description: 'Whether it has other filters now.' }),
    },
    {
      readers: 'everybody',
      target: ['saved_filter', 'filterId'],
      names: { from: '', to: 'filterId' },
      summarize: ({ from, to, filtersChanged }, actor) =>
        from === to
          ? `${actor} changed the saved filter ${to}`
          : `${actor} renamed the saved filter ${from} to ${to}${filtersChanged ? ' and changed it' : ''}`,
      example: { filterId: exampleIds.savedFilter, from: 'Due', to: 'Due this week', filtersChanged: false },
    },
  ),
  'saved_filter.deleted': kind(savedFilter, {
    readers: 'everybody',
    target: ['saved_filter', 'filterId'],
    summarize: ({ filterName }, actor) => `${actor} removed the shared saved filter ${filterName}`,
    example: exampleSavedFilter,
  }),
}
