import { Type } from '@sinclair/typebox'
import { operation } from '../../http/description/operation.ts'
import { errors } from '../../kernel/errors.ts'
import { closed, described, optionalLine, stringEnum } from '../../kernel/schemas.ts'
import { evidenceKinds, reasonLengthMax, sourceUrlLengthMax, verdicts } from '../../domain/seeds.ts'
import { attachmentErrors, changedAttachmentIdsField } from '../attachments/attachments.schemas.ts'
import {
  criterionIds,
  criterionIdsDescription,
  evidenceFields,
  evidenceParams,
  kindDescription,
  verdictDescription,
} from './evidence.schemas.ts'

/** What can be corrected. Described only in the API: a model reads each word of the inputs of tools with every request. */
export const evidenceEditFields = {
  kind: Type.Optional(stringEnum(evidenceKinds)),
  verdict: Type.Optional(stringEnum(verdicts)),
  summary: Type.Optional(evidenceFields.summary),
  sourceUrl: Type.Optional(
    Type.String({
      maxLength: sourceUrlLengthMax,
      'x-text': 'url',
      description: `Empty, or an http or https URL of at most ${sourceUrlLengthMax} characters.`,
    }),
  ),
  criterionIds,
}

export const withdrawalFields = { reason: Type.Optional(optionalLine(reasonLengthMax)) }

/** The errors of all corrections. */
const authorErrors = [errors.notFound, errors.roleInsufficient, errors.notTheAuthor, errors.seedMerged]

export const evidenceUpdate = operation({
  id: 'evidence.update',
  summary: 'Correct evidence',
  description:
    'For its author, in the 15 minutes after it was added, unless it was withdrawn. Absent fields stay unchanged. An ' +
    'empty `sourceUrl` is cleared.',
  params: evidenceParams,
  body: closed(
    {
      ...evidenceEditFields,
      kind: described(evidenceEditFields.kind, kindDescription),
      verdict: described(evidenceEditFields.verdict, verdictDescription),
      criterionIds: described(criterionIds, criterionIdsDescription),
      attachmentIds: changedAttachmentIdsField,
    },
    { examples: [{ verdict: 'neutral' }] },
  ),
  errors: [
    ...[...authorErrors, errors.criterionNotFound, errors.evidenceSettled, errors.sourceUrlInvalid],
    ...attachmentErrors,
  ],
})

export const evidenceWithdraw = operation({
  id: 'evidence.withdraw',
  summary: 'Withdraw evidence',
  description:
    'For its author at any time, and for owners and admins. Withdrawn evidence no longer counts: lists, counts and ' +
    'validation kits leave it out, and `seeds.listEvidence` lists it with `includeWithdrawn`. It cannot be undone. ' +
    'Withdrawing again succeeds, and keeps the first reason. The body is optional.',
  params: evidenceParams,
  body: closed(
    { reason: described(withdrawalFields.reason, 'Why it is withdrawn.') },
    { examples: [{ reason: 'The survey was sent to the wrong customers.' }] },
  ),
  errors: authorErrors,
})
