// Takes the screenshots in docs/screenshots whose pages have changed since: npm run screenshots.
import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { calculatePKCECodeChallenge, generateRandomCodeVerifier } from 'oauth4webapi'
import type { Page } from 'playwright-core'
import sharp from 'sharp'
import { openBrowser, sizes } from './browser.ts'
import { hashesUrl, hashSources, readHashes, screenshots, type Screenshot } from './screenshots.ts'

const port = 3999
const origin = `http://localhost:${port}`
const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = join(root, 'docs/screenshots')

const before = await readHashes()
const hashes = Object.fromEntries(
  await Promise.all(
    (Object.keys(screenshots) as Screenshot[]).map(async (name) => [name, await hashSources(name)] as const),
  ),
)

const dataDir = await mkdtemp(join(tmpdir(), 'workspace-screenshots-'))
const service = spawn(process.execPath, [join(root, 'dist/server.js')], {
  cwd: dataDir,
  env: {
    ...process.env,
    DATA_DIR: dataDir,
    PORT: String(port),
    DATABASE_URL: '',
    SIGN_IN_LIMIT_PER_MINUTE: '0',
    MAIL_LIMIT_PER_HOUR: '0',
  },
  stdio: ['ignore', 'pipe', 'inherit'],
})
try {
  await takeAll(await readLink())
  await writeFile(hashesUrl, `${JSON.stringify(hashes, undefined, 2)}\n`)
} finally {
  service.kill('SIGINT')
  await new Promise((resolve) => service.once('exit', resolve))
  await rm(dataDir, { recursive: true, force: true })
}

async function readLink(): Promise<string> {
  let text = ''
  for await (const piece of service.stdout) {
    text += String(piece)
    const link = /https?:\S+\/sign-in\/link\/\S+/.exec(text)?.[0]
    // Drain the rest, so that the service does not block on a full pipe.
    if (link !== undefined) {
      service.stdout.resume()
      return link
    }
  }
  throw new Error(`the service has not started: ${text}`)
}

async function takeAll(link: string): Promise<void> {
  const browser = await openBrowser()
  const page = await browser.newPage({ viewport: sizes.desk })
  await page.goto(`${origin}/sign-in`)
  await take(page, 'sign-in')
  await page.goto(link)
  await page.getByRole('main').getByRole('button', { name: 'Sign in' }).click()
  await page.goto(`${origin}/w/first-workspace/settings`)
  await page.getByLabel('Name').fill('Analytical Engines')
  await page.getByLabel('Address').fill('analytical-engines')
  await page.getByLabel('Allowed email domains').fill('example.com')
  await page.getByRole('button', { name: 'Save' }).click()
  await page
    .getByLabel('New icon')
    .setInputFiles({ name: 'icon.png', mimeType: 'image/png', buffer: await drawIcon() })
  await page.getByRole('button', { name: 'Upload' }).click()
  for (const name of ['Research', 'Looms']) {
    await page.goto(`${origin}/w/analytical-engines/teams`)
    await page.getByLabel('Team name').fill(name)
    await page.getByRole('button', { name: 'Create team' }).click()
  }
  await page.getByLabel('Find people to add').fill('ada')
  await page.getByRole('main').getByRole('button', { name: 'Search' }).click()
  await page.getByRole('button', { name: 'Add' }).click()
  await page.goto(`${origin}/w/analytical-engines/invites`)
  for (const email of ['charles@example.com', 'mary@example.com']) {
    await page.getByLabel('Email address').fill(email)
    await page.getByRole('button', { name: 'Send invites' }).click()
    // Before another page is opened, which would be left again by the answer.
    await page.getByText(email).first().waitFor()
  }
  await take(page, 'invites')
  const base = `${origin}/w/analytical-engines`
  await page.goto(base)
  await take(page, 'workspace')
  await page.keyboard.press('Control+k')
  await page.getByRole('option').first().waitFor()
  await take(page, 'palette')
  await page.goto(`${base}/seeds?view=board`)
  await take(page, 'seeds')
  await page.getByRole('link', { name: 'Example: Fewer status meetings' }).click()
  await page.getByRole('heading', { name: 'Evidence' }).waitFor()
  const seed = page.url()
  await take(page, 'seed')
  await page.goto(`${base}/people`)
  await take(page, 'people')
  await page.goto(`${base}/settings`)
  await take(page, 'workspace-settings')
  await page.goto(`${origin}/settings/security`)
  await take(page, 'security')
  await page.getByRole('link', { name: 'Manage API keys' }).click()
  await page.getByLabel('Key name').fill('Laptop')
  await page.getByRole('button', { name: 'Create key' }).click()
  await take(page, 'api-keys')
  await page.goto(await connectAgent())
  await page.getByLabel(/^Create, change/).check()
  await take(page, 'consent')
  await page.getByRole('button', { name: 'Allow' }).click()
  await page.waitForURL(/\/health/)
  await page.goto(`${base}/agents`)
  await take(page, 'agents')
  await page.goto(`${base}/activity`)
  await take(page, 'activity')
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.goto(base)
  await take(page, 'workspace-dark')
  await page.setViewportSize(sizes.phone)
  await take(page, 'phone-workspace-dark')
  await page.emulateMedia({ colorScheme: 'light' })
  await page.goto(seed)
  await take(page, 'phone-seed')
  await page.goto(`${origin}/settings/security`)
  await take(page, 'phone-security')
  await browser.close()
}

/** Registers an agent. Returns the URL to which it sends the browser. */
async function connectAgent(): Promise<string> {
  const redirectUri = `${origin}/health`
  const registered = await fetch(`${origin}/agent/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_name: 'Research agent', redirect_uris: [redirectUri] }),
  })
  const { client_id: clientId } = (await registered.json()) as { client_id: string }
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: 'validation-kit:read seeds:write',
    code_challenge: await calculatePKCECodeChallenge(generateRandomCodeVerifier()),
    code_challenge_method: 'S256',
  })
  return `${origin}/agent/oauth/authorize?${query.toString()}`
}

/** Saves a screenshot with few colors, so that the file is small. */
async function take(page: Page, name: Screenshot): Promise<void> {
  if (before[name] === hashes[name]) return
  // Chromium without a GPU sometimes fails to capture while it is still drawing.
  const capture = () => page.screenshot()
  const picture = await capture().catch(async () => {
    await page.waitForTimeout(1_000)
    return capture()
  })
  await sharp(picture)
    .png({ palette: true, colours: 128, compressionLevel: 9 })
    .toFile(join(folder, `${name}.png`))
}

async function drawIcon(): Promise<Buffer> {
  return sharp(await readFile(join(root, 'public/icon.svg')), { density: 600 })
    .png()
    .toBuffer()
}
