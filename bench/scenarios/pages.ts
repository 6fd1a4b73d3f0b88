import { Browser } from '../../tests/support/browser.ts'
import { below } from '../compare.ts'
import type { Trial } from '../report.ts'
import { company, crowd, openSmallDatabase, seedWithEvidence } from '../databases.ts'
import { peakMemoryMb, type Area, type Subject } from '../harness.ts'
import { percentile, roundMs } from '../report.ts'
import { withServicesOf } from '../services.ts'
import { startService } from '../subjects.ts'

const ofCompany = `/w/${company.slug}`
const ofCrowd = `/w/${crowd.slug}`
const paths = [
  ofCrowd,
  `${ofCrowd}/seeds`,
  `${ofCrowd}/seeds?view=board`,
  `${ofCrowd}/seeds/${seedWithEvidence}`,
  `${ofCrowd}/people`,
  `${ofCrowd}/people?q=person`,
  `${ofCrowd}/search?q=person`,
  `${ofCompany}/activity`,
  `${ofCompany}/teams`,
  `${ofCompany}/agents`,
  `${ofCompany}/settings`,
]

const rounds = 3
const pagesOfRound = 40

export const pages: Area = {
  name: 'pages',
  title: 'Pages of the website, one at a time, in workspaces of 150 members, people and seeds',
  async prepare(bench) {
    const ours = await startService(bench, await openSmallDatabase(bench))
    const browser = await signIn(ours)
    return paths.map((path): Trial => ({
      name: path,
      async run() {
        const took: number[][] = []
        for (let round = 0; round < rounds; round++) took.push(await open(browser, path))
        const all = took.flat()
        return [
          {
            request: path,
            server: ours.name,
            requestsPerSecond: all.length / (all.reduce((sum, ms) => sum + ms, 0) / 1000),
            p50Ms: roundMs(percentile(all, 0.5)),
            p99Ms: roundMs(percentile(all, 0.99)),
            peakMb: peakMemoryMb(ours),
            values: took.map((ms) => percentile(ms, 0.5)),
            unit: 'ms at p50',
            goal: below(20),
          },
        ]
      },
    }))
  },
}

async function open(browser: Browser, path: string): Promise<number[]> {
  const tookMs: number[] = []
  for (let i = 0; i < pagesOfRound; i++) {
    const at = performance.now()
    const answer = await browser.open(path)
    await answer.text()
    tookMs.push(performance.now() - at)
    if (!answer.ok) throw new Error(`${path} is answered with ${answer.status}`)
  }
  return tookMs
}

/** Signs in the user of the database by a link. */
async function signIn(subject: Subject): Promise<Browser> {
  const { url } = await withServicesOf(subject, ({ services }) =>
    services.credentials.createLink('sign_in', subject.database.userId),
  )
  const browser = new Browser(subject.origin)
  const { pathname } = new URL(url)
  await browser.submit(await (await browser.open(pathname)).text(), pathname, {})
  return browser
}
