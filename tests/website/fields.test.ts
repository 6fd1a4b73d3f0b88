import { describe, expect, it } from 'vitest'
import { createCompany, createTeam } from '../support/company.ts'
import { createLabel, createSeed, joinSeed, saveFilter } from '../support/seeds.ts'
import { createServiceAccount } from '../support/service-accounts.ts'
import { createWebhook } from '../support/webhooks.ts'
import { signInAs, startWebsite } from './visitor.ts'

const website = await startWebsite()
const company = await createCompany(website)
const owner = await signInAs(website, company.owner)
const base = `/w/${company.workspace.slug}`
const team = await createTeam(website, company.owner, company)
const label = await createLabel(website, company.owner, company)
const filter = await saveFilter(website, company.owner, company)
const seed = await createSeed(website, company.owner, company)
await joinSeed(website, company.owner, seed)
const account = await createServiceAccount(website, company.owner, company)
const webhook = await createWebhook(website, company.owner, company, { url: 'https://hooks.example.com/' })

/** The part of a body's JSON Schema that a field can express. */
interface FieldSchema {
  type?: string
  format?: string
  minLength?: number
  maxLength?: number
  pattern?: string
}

interface Description {
  paths: Record<
    string,
    Record<
      string,
      {
        operationId: string
        requestBody?: {
          content: Record<
            string,
            { schema: { required?: string[]; properties: Record<string, FieldSchema> } }
          >
        }
      }
    >
  >
}

const description = (await website.app.inject('/openapi.json')).json<Description>()
const bodies = new Map(
  Object.values(description.paths)
    .flatMap((operations) => Object.values(operations))
    .map(({ operationId, requestBody }) => [operationId, requestBody?.content['application/json']?.schema]),
)

const accountPage = `${base}/settings/service-accounts/${account.id}`

/** Each form that does what an operation of the API does. */
const forms: [operationId: string, page: string, action: string][] = [
  ['me.updateProfile', '/settings/profile', '/settings/profile'],
  ['apiKeys.createRestricted', '/settings/security/api-keys', '/settings/security/api-keys'],
  ['workspaces.create', '/onboarding', '/onboarding'],
  ['workspaces.update', `${base}/settings`, `${base}/settings`],
  ['workspaces.updateAgentPolicy', `${base}/settings/agents`, `${base}/settings/agents`],
  ['invites.create', `${base}/invites`, `${base}/invites`],
  ['teams.create', `${base}/teams`, `${base}/teams`],
  ['teams.rename', `${base}/teams/${team.id}`, `${base}/teams/${team.id}/rename`],
  ['labels.create', `${base}/labels`, `${base}/labels`],
  ['labels.update', `${base}/labels/${label.id}`, `${base}/labels/${label.id}/rename`],
  ['savedFilters.create', `${base}/seeds?due=week`, `${base}/filters`],
  ['savedFilters.update', `${base}/filters/${filter.id}`, `${base}/filters/${filter.id}/edit`],
  ['seeds.create', `${base}/seeds/new`, `${base}/seeds/new`],
  ['seeds.update', `${base}/seeds/${seed.id}/edit`, `${base}/seeds/${seed.id}/edit`],
  ['serviceAccounts.create', `${base}/settings/service-accounts`, `${base}/settings/service-accounts`],
  ['serviceAccounts.update', accountPage, accountPage],
  ['serviceAccounts.createKey', accountPage, `${accountPage}/keys`],
  ['serviceAccounts.createClient', accountPage, `${accountPage}/clients`],
  ['webhooks.create', `${base}/settings/webhooks`, `${base}/settings/webhooks`],
  ['webhooks.update', `${base}/settings/webhooks/${webhook.id}`, `${base}/settings/webhooks/${webhook.id}`],
  ['seeds.addEvidence', `${base}/seeds/${seed.id}`, `${base}/seeds/${seed.id}/evidence`],
]

/** Fields that take several values of a field of the API, whose bounds hold for each of them. */
const severalOf = new Set(['invites.create email'])

/** The text fields of a form, with their attributes. */
function readTextFields(body: string, action: string): Map<string, Record<string, string>> {
  const form = body.split('<form').find((part) => part.includes(`action="${action}"`)) ?? ''
  const tags = form.split('</form>')[0]?.match(/<(?:input|textarea)\b[^>]*>/g) ?? []
  const fields = tags.map((tag) =>
    Object.fromEntries(
      [...tag.matchAll(/\s([a-z-]+)(?:="([^"]*)")?/g)].map(([, name, value]): [string, string] => [
        String(name),
        value ?? '',
      ]),
    ),
  )
  return new Map(
    fields
      .filter(({ type = 'textarea' }) => ['text', 'email', 'url', 'textarea'].includes(type))
      .map((attributes) => [String(attributes.name), attributes]),
  )
}

/** What the field of a form is called, or begins with, where it has another name than in the API. */
const otherNames: Record<string, string> = {
  'apiKeys.createRestricted expiresAt': 'expires',
  'apiKeys.createRestricted workspaceIds': 'workspace-',
  'workspaces.updateAgentPolicy scopes': 'workspace:read',
  'invites.create teamIds': 'team-',
  'savedFilters.create shared': 'for',
  'savedFilters.create filters': 'query',
  'savedFilters.update shared': 'for',
  'seeds.create criteria': 'successCriteria',
  'seeds.update criteria': 'successCriteria',
  'serviceAccounts.createKey expiresAt': 'expires',
  'serviceAccounts.createClient scopes': 'workspace:read',
  'webhooks.create types': 'type:',
  'webhooks.create teamIds': 'team:',
  'webhooks.create labelIds': 'label:',
  'webhooks.update types': 'type:',
  'webhooks.update teamIds': 'team:',
  'webhooks.update labelIds': 'label:',
}

/** Why a form has no field for what its operation takes. */
const without: Record<string, string> = {
  'savedFilters.update filters': 'other filters are saved anew, where they are chosen',
  'seeds.update status': 'has a form of its own beside the seed',
  'seeds.update statusReason': 'has a form of its own beside the seed',
  'seeds.update leadUserId': 'has a form of its own beside the seed',
  'serviceAccounts.update role': 'has a form of its own on the page',
  'serviceAccounts.createKey maxRole': 'the role of the account says it',
  'serviceAccounts.createClient jwks': 'keys have a URL there',
  'webhooks.update status': 'has a button of its own',
  'seeds.addEvidence criterionIds': 'this seed has no criteria',
  'seeds.addEvidence join': 'the form always joins',
}

/** The page of a form. */
async function read(page: string): Promise<string> {
  const { statusCode, body } = await owner.get(page)
  expect(statusCode, body).toBe(200)
  return body
}

/** The names of all fields of a form. */
function readNames(body: string, action: string): string[] {
  const form = body.split('<form').find((part) => part.includes(`action="${action}"`)) ?? ''
  return [...(form.split('</form>')[0]?.matchAll(/\sname="([^"]+)"/g) ?? [])].map(([, name]) => String(name))
}

describe.each(forms)('the form for %s', (operationId, page, action) => {
  it('has the length limits, patterns and required fields of the API', async () => {
    const body = bodies.get(operationId)
    const fields = readTextFields(await read(page), action)
    expect(fields.size).toBeGreaterThan(0)
    for (const [name, attributes] of fields) {
      const schema = body?.properties[name]
      expect(schema, name).toBeDefined()
      // One criterion on each line of the field.
      if (schema?.type === 'array') continue
      if (severalOf.has(`${operationId} ${name}`)) {
        expect(attributes, name).toHaveProperty('required')
        continue
      }
      // Browsers would cut a text of several lines at the limit, without a word.
      const isOfLines = 'rows' in attributes
      expect(attributes[isOfLines ? 'data-length-max' : 'maxlength'], name).toBe(String(schema?.maxLength))
      if (isOfLines) expect(attributes, name).not.toHaveProperty('maxlength')
      // A pattern of all languages would say less than the message of the server.
      if (attributes.pattern !== undefined) expect(attributes.pattern, name).toBe(schema?.pattern)
      if (attributes.minlength !== undefined)
        expect(attributes.minlength, name).toBe(String(schema?.minLength))
      if (schema?.format !== undefined) expect(attributes.type, name).toBe(schema.format)
      const isRequired = body?.required?.includes(name) ?? false
      if (isRequired) expect(attributes, name).toHaveProperty('required')
    }
    for (const name of body?.required ?? []) {
      const isText = body?.properties[name]?.maxLength !== undefined
      if (isText) expect([...fields.keys()], operationId).toContain(name)
    }
  })

  it('has a field for all that the operation takes, or a reason why not', async () => {
    const names = readNames(await read(page), action)
    for (const property of Object.keys(bodies.get(operationId)?.properties ?? {})) {
      const key = `${operationId} ${property}`
      const beginning = otherNames[key]
      const isThere = names.some((name) =>
        beginning === undefined ? name === property : name.startsWith(beginning),
      )
      expect(isThere || without[key] !== undefined, key).toBe(true)
      if (isThere) expect(without, 'it has a field').not.toHaveProperty([key])
    }
  })
})
