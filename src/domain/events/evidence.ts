import { Type } from '@sinclair/typebox'
import { exampleIds } from '../example-ids.ts'
import { nullableString, stringEnum } from '../../kernel/schemas.ts'
import { changedOfEvidence, evidenceKinds, verdicts, type EvidenceKind, type Verdict } from '../seeds.ts'
import { examplePerson } from './people.ts'
import { seed, exampleSeed, attachmentIds } from './seeds.ts'
import { listOf, id, text, kind } from './kind.ts'

const seenPiece = {
  evidenceId: id('the evidence'),
  ...seed,
  kind: stringEnum(evidenceKinds, { description: 'The kind of evidence.' }),
  verdict: stringEnum(verdicts, { description: 'Whether it is for or against the seed.' }),
}

const exampleSeenPiece = {
  evidenceId: exampleIds.evidence,
  ...exampleSeed,
  kind: 'interview' as const,
  verdict: 'supports' as const,
}

const evidenceFieldLabels: Record<(typeof changedOfEvidence)[number], string> = {
  kind: 'kind',
  verdict: 'verdict',
  summary: 'summary',
  sourceUrl: 'source',
  criterionIds: 'success criteria',
  attachmentIds: 'files',
}

function describeKind({ kind: ofKind }: { kind: EvidenceKind }): string {
  return `${/^[aeiou]/.test(ofKind) ? 'an' : 'a'} ${ofKind}`
}

function describeVerdict({ verdict }: { verdict: Verdict }): string {
  return verdict === 'neutral' ? 'is neutral about' : verdict
}

/** What happens to evidence. */
export const evidenceEvents = {
  'evidence.added': kind(
    {
      evidenceId: id('the evidence'),
      ...seed,
      kind: stringEnum(evidenceKinds, { description: 'The kind of evidence.' }),
      verdict: stringEnum(verdicts, { description: 'Whether it is for or against the seed.' }),
      attachmentIds,
    },
    {
      readers: 'everybody',
      target: ['evidence', 'evidenceId'],
      summarize: ({ title, ...piece }, actor) =>
        `${actor} added ${describeKind(piece)} that ${describeVerdict(piece)} the seed ${title}`,
      example: { evidenceId: exampleIds.evidence, ...exampleSeed, kind: 'interview', verdict: 'supports' },
    },
  ),
  'evidence.updated': kind(
    {
      evidenceId: id('the evidence'),
      ...seed,
      fields: Type.Array(stringEnum(changedOfEvidence), { description: 'What was corrected.' }),
    },
    {
      readers: 'everybody',
      target: ['evidence', 'evidenceId'],
      summarize({ title, fields }, actor) {
        const list = listOf(fields.map((field) => `the ${evidenceFieldLabels[field]}`))
        return `${actor} corrected ${list} of evidence of the seed ${title}`
      },
      example: { evidenceId: exampleIds.evidence, ...exampleSeed, fields: ['verdict'] },
    },
  ),
  'evidence.withdrawn': kind(
    {
      evidenceId: id('the evidence'),
      ...seed,
      kind: stringEnum(evidenceKinds, { description: 'The kind of evidence.' }),
      verdict: stringEnum(verdicts, { description: 'Whether it was for or against the seed.' }),
      reason: nullableString({ description: 'Why it was withdrawn, if that was said.' }),
      userId: nullableString({ description: 'The id of its author. Null: the account was deleted.' }),
      name: text('The name of its author at the time.'),
      isSelf: Type.Boolean({ description: 'Whether the author withdrew it.' }),
    },
    {
      readers: 'everybody',
      target: ['evidence', 'evidenceId'],
      summarize: ({ title, name, isSelf, ...piece }, actor) =>
        `${actor} withdrew ${describeKind(piece)} ${isSelf ? '' : `by ${name} `}that ${describeVerdict(piece)} the seed ${title}`,
      example: {
        evidenceId: exampleIds.evidence,
        ...exampleSeed,
        kind: 'interview',
        verdict: 'supports',
        reason: 'The people asked were not customers.',
        ...examplePerson,
        isSelf: false,
      },
    },
  ),
  'evidence.seen': kind(seenPiece, {
    readers: 'everybody',
    target: ['evidence', 'evidenceId'],
    summarize: ({ title, ...piece }, actor) =>
      `${actor} has seen this too: ${describeKind(piece)} that ${describeVerdict(piece)} the seed ${title}`,
    example: exampleSeenPiece,
  }),
  'evidence.unseen': kind(seenPiece, {
    readers: 'everybody',
    target: ['evidence', 'evidenceId'],
    summarize: ({ title, ...piece }, actor) =>
      `${actor} took back that they saw this too: ${describeKind(piece)} that ${describeVerdict(piece)} the seed ${title}`,
    example: exampleSeenPiece,
  }),
}
