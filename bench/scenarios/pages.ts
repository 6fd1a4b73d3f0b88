import { Browser } from '../../tests/support/browser.ts'
import { company, crowd, openSmallDatabase, seedWithComments, seedWithEvidence } from '../databases.ts'
import type { Area, Subject } from '../harness.ts'
import { oneAtATime } from '../one-at-a-time.ts'
import { withServicesOf } from '../services.ts'
import { startService } from '../compared-servers.ts'

const ofCompany = `/w/${company.slug}`
const ofCrowd = `/w/${crowd.slug}`
const paths = [
  ofCrowd,
  `${ofCrowd}/seeds`,
  `${ofCrowd}/seeds?view=board`,
  `${ofCrowd}/seeds/${seedWithEvidence}`,
  `${ofCrowd}/seeds/${seedWithComments}`,
  `${ofCrowd}/people`,
  `${ofCrowd}/people?q=person`,
  `${ofCrowd}/search?q=person`,
  `${ofCompany}/activity`,
  `${ofCompany}/teams`,
  `${ofCompany}/agents`,
  `${ofCompany}/settings`,
]

export const pages: Area = {
  name: 'pages',
  title: 'Pages of the website, one at a time, in workspaces of 150 members, people and seeds',
  async prepare(bench) {
    const ours = await startService(bench, await openSmallDatabase(bench))
    const browser = await signIn(ours)
    return paths.map((path) => oneAtATime(bench, ours, path, { goalMs: 20, send: () => browser.open(path) }))
  },
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
