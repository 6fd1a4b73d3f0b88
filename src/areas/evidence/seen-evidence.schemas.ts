import { operation } from '../../http/description/operation.ts'
import { errors } from '../../kernel/errors.ts'
import { evidenceParams } from './evidence.schemas.ts'

const seenErrors = [
  errors.notFound,
  errors.roleInsufficient,
  errors.serviceAccountNotAllowed,
  errors.evidenceSettled,
]

const forPeople =
  'For members and above, whether they have joined the seed or not. Service accounts and agents cannot: it is what a person ' +
  'saw. Evidence that was withdrawn is answered with `evidence_settled`.'

export const evidenceSee = operation({
  id: 'evidence.see',
  summary: 'Say that you saw this too',
  description:
    `The caller saw what the evidence found, too: it counts in \`seenByCount\`, with their name on the website. ${forPeople} Its ` +
    'author has seen it anyway, and is not counted: for them it is answered with `own_evidence`. Saying it again succeeds, and ' +
    'changes nothing. Nobody is notified. Who leaves the workspace, or deletes their account, is not counted any more.',
  params: evidenceParams,
  errors: [...seenErrors, errors.ownEvidence],
})

export const evidenceUnsee = operation({
  id: 'evidence.unsee',
  summary: 'Take back that you saw this too',
  description: `The caller is not counted in \`seenByCount\` any more. ${forPeople} It succeeds too if they are not counted.`,
  params: evidenceParams,
  errors: seenErrors,
})
