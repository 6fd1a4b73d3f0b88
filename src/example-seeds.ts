import type { EvidenceInput } from './areas/evidence/evidence.service.ts'
import type { SeedInput } from './areas/seeds/seeds.service.ts'
import { exampleTitlePrefix, type SeedStatus } from './domain/seeds.ts'

/** An example seed, with its evidence, oldest first. */
export interface ExampleSeed {
  seed: SeedInput
  evidence: EvidenceInput[]
  status: SeedStatus
}

/** The seeds of the first workspace. The command remove-examples deletes them. */
export const exampleSeeds: readonly ExampleSeed[] = [
  {
    seed: {
      title: `${exampleTitlePrefix}Fewer status meetings`,
      summary:
        "Replace the daily status meeting of a team with a written update that everybody reads by 10 o'clock.",
      problem:
        'Teams of eight or more spend half an hour a day on reporting. Most of what is said concerns one or two of the people in the room.',
      audience: 'Product teams of 6 to 12 people, in two or more time zones.',
      hypothesis:
        'If a team writes its status down, it meets at most twice a week and notices blocked work just as early.',
      successCriteria: [
        'After four weeks the team meets at most twice a week.',
        'Blocked work is picked up within one working day, as before.',
        'At least 7 of 10 members want to keep it.',
      ],
    },
    evidence: [
      {
        kind: 'interview',
        verdict: 'supports',
        summary:
          "Five of six team leads could not name a decision from last week's status meetings.\nTwo of them already skip the meeting when they are busy.",
      },
      {
        kind: 'experiment',
        verdict: 'supports',
        summary:
          'One team of nine tried it for three weeks: five meetings a week became two. Blocked tasks waited 0.7 days on average, 0.8 before.',
      },
      {
        kind: 'survey',
        verdict: 'neutral',
        summary:
          'After the trial, 6 of 9 members want to keep the written update. Three miss talking to the others in the morning.',
      },
    ],
    status: 'validating',
  },
  {
    seed: {
      title: `${exampleTitlePrefix}Plain invoices`,
      summary: 'Show on the first page of an invoice what has changed since the last one, in one sentence.',
      problem:
        'One in four support requests in the first week of a month asks why an invoice is higher than before.',
      audience: 'Customers with more than five seats, and whoever pays their bills.',
      hypothesis: 'If the invoice says what has changed, requests about invoices fall by at least a third.',
      successCriteria: [
        'Requests about invoices fall by a third within two billing periods.',
        'Invoices are not paid later than before.',
      ],
    },
    evidence: [
      {
        kind: 'metric',
        verdict: 'supports',
        summary:
          'In the first month, requests about invoices fell from 412 to 251 (39 %), with 3 % more invoices sent.',
        sourceUrl: 'https://example.com/reports/invoices-october',
      },
      {
        kind: 'interview',
        verdict: 'supports',
        summary:
          'Three of four bookkeepers found the sentence without being told. One said: "This is the first thing that I look for."',
      },
      {
        kind: 'metric',
        verdict: 'supports',
        summary: 'In the second month, 248 requests. The median invoice was paid after 9 days, as before.',
        sourceUrl: 'https://example.com/reports/invoices-november',
      },
    ],
    status: 'validated',
  },
  {
    seed: {
      title: `${exampleTitlePrefix}Weekend support by chat`,
      summary: 'Answer customers by chat on Saturdays and Sundays too.',
      problem: 'Requests that come in on Friday evening are answered on Monday.',
      audience: 'Small shops, whose busiest days are at the weekend.',
      hypothesis:
        'Shops that are answered at the weekend are less likely to cancel in their first three months.',
      successCriteria: [
        'Cancellations in the first three months fall from 8 % to 6 %.',
        'A weekend takes at most two people.',
      ],
    },
    evidence: [
      {
        kind: 'interview',
        verdict: 'supports',
        summary: 'Four of five shop owners said that they had needed help on a Saturday at least once.',
      },
      {
        kind: 'experiment',
        verdict: 'contradicts',
        summary:
          'Six weekends with chat for half of all new shops: 11 conversations a weekend, and 7.9 % cancelled, against 8.1 % without chat.',
      },
      {
        kind: 'note',
        verdict: 'contradicts',
        summary: 'Nine of ten weekend questions are answered by three help pages that nobody had found.',
      },
    ],
    status: 'dropped',
  },
]
