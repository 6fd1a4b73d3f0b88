import { Type, type Static } from '@sinclair/typebox'
import { labelsMax } from '../../domain/labels.ts'
import { exampleIds, exampleTime } from '../../http/description/examples.ts'
import { listOperation, operation, pathParams, slugParams } from '../../http/description/operation.ts'
import { errors, workspaceErrors } from '../../kernel/errors.ts'
import { closed, exampleOf, line, named, ok, ref, timestamp } from '../../kernel/schemas.ts'
import { labelLengthMax } from '../../kernel/text.ts'

export const Label = named(
  'Label',
  {
    id: Type.String({ description: 'The id of the label.' }),
    workspaceId: Type.String({ description: 'The id of its workspace.' }),
    name: Type.String({ description: 'The name of the label.' }),
    createdAt: timestamp('When the label was created.'),
  },
  { id: exampleIds.label, workspaceId: exampleIds.workspace, name: 'Pricing', createdAt: exampleTime },
  'A label of a workspace, which its seeds can have.',
)
export type Label = Static<typeof Label>

const LabelCreation = named('LabelCreation', { ok, label: ref(Label) }, { ok: true, label: exampleOf(Label) })

export const labelsSchemas = [Label, LabelCreation]

const labelParams = pathParams('slug', 'labelId')
const labelBody = closed({ name: line(labelLengthMax) }, { examples: [{ name: 'Pricing' }] })
const labelErrors = [...workspaceErrors, errors.roleInsufficient]

export const labelsList = listOperation(
  {
    id: 'labels.list',
    summary: 'List the labels of a workspace',
    description: `Oldest first. There are at most ${labelsMax}.`,
    params: slugParams,
    returns: 'A page of labels.',
    errors: workspaceErrors,
  },
  { item: Label },
)

export const labelsGet = operation({
  id: 'labels.get',
  summary: 'Read a label',
  description: 'For all members of its workspace.',
  params: labelParams,
  success: ref(Label),
  returns: 'The label.',
  errors: workspaceErrors,
})

export const labelsCreate = operation({
  id: 'labels.create',
  summary: 'Create a label',
  description:
    'For members and above. Two labels of a workspace cannot have names that differ only in case. A workspace has at most ' +
    `${labelsMax} labels.`,
  params: slugParams,
  body: labelBody,
  success: ref(LabelCreation),
  returns: 'The new label.',
  errors: [...labelErrors, errors.labelNameTaken, errors.labelLimit],
})

export const labelsUpdate = operation({
  id: 'labels.update',
  summary: 'Rename a label',
  description: 'For members and above.',
  params: labelParams,
  body: labelBody,
  errors: [...labelErrors, errors.labelNameTaken],
})

export const labelsDelete = operation({
  id: 'labels.delete',
  summary: 'Delete a label',
  description: 'For owners and admins. Seeds that have it lose it at once.',
  params: labelParams,
  errors: labelErrors,
})
