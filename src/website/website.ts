import type { App } from '../http/app-types.ts'
import { streamedUploads, type StreamedUploadsOptions } from '../http/requests/streamed-uploads.ts'
import { uploadBytesMax } from '../http/requests/uploads.ts'
import { keepOpeners } from '../http/answers/security-headers.ts'
import { errors } from '../kernel/errors.ts'
import type { Services } from '../services/services.ts'
import { activityPages } from './activity/activity.pages.ts'
import { accountPages, profilePhotoForm } from './account/account.pages.ts'
import { apiKeysPages } from './account/api-keys.pages.ts'
import { agentsPages } from './agents/agents.pages.ts'
import { confirmPages } from './account/confirm.pages.ts'
import { consentPages } from './agents/consent.pages.ts'
import { designPages } from './design.pages.ts'
import { helpPages } from './help.pages.ts'
import { draftsPages } from './account/drafts.pages.ts'
import { emailPages } from './account/email.pages.ts'
import { changeStreams, type ChangeStreamsOptions } from './plugins/change-streams.ts'
import { flash } from './plugins/flash.ts'
import { identityPages } from './sign-in/identity.pages.ts'
import { inboxPages } from './inbox/inbox.pages.ts'
import { invitePages } from './sign-in/invite.pages.ts'
import { invitesPages } from './people/invites.pages.ts'
import { onboardingPages } from './home/onboarding.pages.ts'
import { passkeySignInPages, passkeysPages } from './account/passkeys.pages.ts'
import { peoplePages } from './people/people.pages.ts'
import { findPendingConsent } from './plugins/pending-consent.ts'
import { providersPages } from './account/providers.pages.ts'
import { searchPages } from './search/search.pages.ts'
import { passwordPages, securityPages } from './account/security.pages.ts'
import { secondStepPages } from './sign-in/second-step.pages.ts'
import { admitFileOfForm, attachmentsPages, attachmentsUpload } from './seeds/thread/attachments.pages.ts'
import { findAttached } from './seeds/thread/attached.ts'
import { commentsPages } from './seeds/thread/comments.pages.ts'
import { evidencePages } from './seeds/thread/evidence.pages.ts'
import { seedChangesPages } from './seeds/seed-changes.pages.ts'
import { seedAddress, seedPages } from './seeds/seed.pages.ts'
import { seedTableForm, seedTablesPages } from './seeds/lists/seed-tables.pages.ts'
import { labelsPages } from './seeds/lists/labels.pages.ts'
import { savedFiltersPages } from './seeds/lists/saved-filters.pages.ts'
import { seedsPages } from './seeds/lists/seeds.pages.ts'
import { createSignInLimits, type SignInLimitsOptions } from './plugins/sign-in-limits.ts'
import { signInPages } from './sign-in/sign-in.pages.ts'
import { renderSignIn } from './sign-in/sign-in.views.ts'
import { keepAccountPages } from './sign-in/keep-account.pages.ts'
import { takeBackPages } from './sign-in/take-back.pages.ts'
import { teamsPages } from './people/teams.pages.ts'
import { themePages } from './account/theme.pages.ts'
import { deletionPages } from './account/deletion.pages.ts'
import { twoStepPages } from './account/two-step.pages.ts'
import { uploadForm } from './plugins/upload-form.ts'
import { signedInOnly, webSession } from './plugins/web-session.ts'
import { workspaceIconForm, workspaceSettingsPages } from './settings/workspace-settings.pages.ts'
import { workspaceKeysPages } from './settings/workspace-keys.pages.ts'
import { ownershipPages } from './settings/ownership.pages.ts'
import { agentPolicyPages } from './settings/agent-policy.pages.ts'
import { serviceAccountsPages } from './settings/service-accounts.pages.ts'
import { webhooksPages } from './webhooks/webhooks.pages.ts'
import { workspacePages } from './home/workspace.pages.ts'
import { explainMissingSeed, seedMergingPages } from './seeds/seed-merging.pages.ts'
import { createUploadPages, createWorkspacePages } from './plugins/workspace-visit.ts'

export interface WebsiteOptions extends SignInLimitsOptions {
  baseUrl: string
  webUrl: string
  /** Whether the page of the design system is served. */
  hasDesignPage: boolean
  /** Uploads per hour and person; 0 = no limit. */
  uploadLimitPerHour: number
  /** How files of texts are stored. */
  fileUploads: StreamedUploadsOptions
  changeStreams: ChangeStreamsOptions
}

/** Registers every page of the website. */
export async function websiteRoutes(app: App, services: Services, options: WebsiteOptions): Promise<void> {
  const { baseUrl, webUrl, uploadLimitPerHour } = options
  const limits = createSignInLimits(app, services.sessions, options)
  const { entry, identityProviders: providers } = services
  await app.register(webSession, { sessions: services.sessions, webUrl })
  await app.register(flash, { flashes: services.flashes })
  redirectToWebsite(app, { baseUrl, webUrl })

  // Each of these can be a step between the request of an agent and its answer, in a popup that the agent's site opened.
  await app.register(async (steps: App) => {
    keepOpeners(steps)
    steps.get('/', async (request, reply) => {
      if (request.visit.sessionId === undefined)
        return reply.showPage(renderSignIn({ request, next: findPendingConsent(request), providers, entry }))
      // People answer new offers before they continue to their home.
      const hasNewOffers = await services.offers.hasNew(request.principal)
      return reply.redirect(hasNewOffers ? '/onboarding' : await services.me.home(request.principal), 303)
    })
    invitePages(steps, services)
    signInPages(steps, { services, providers, limits })
    secondStepPages(steps, services, limits)
    takeBackPages(steps, services)
    keepAccountPages(steps, services)
    passkeySignInPages(steps, services)
    identityPages(steps, services, webUrl)
    consentPages(steps, services)
    helpPages(steps)
  })
  if (options.hasDesignPage) designPages(app)

  await app.register(async (scope: App) => {
    await scope.register(signedInOnly)
    await scope.register(changeStreams, options.changeStreams)
    const pages = createWorkspacePages(scope, {
      workspaces: services.workspaces,
      sendOnce: services.sentForms,
      explainMissing: (visit) => explainMissingSeed(visit, services),
      findAttached: (visit) => findAttached(visit, services.attachments),
    })
    await scope.register(async (steps: App) => {
      keepOpeners(steps)
      onboardingPages(steps, services, webUrl)
      confirmPages(steps, services, limits)
      themePages(steps)
    })
    accountPages(scope, services)
    draftsPages(scope, services)
    inboxPages(scope, services)
    securityPages(scope, services)
    passwordPages(scope, services, limits)
    await apiKeysPages(scope, services, { baseUrl })
    await scope.register((proven: App) => twoStepPages(proven, services))
    await scope.register((proven: App) => passkeysPages(proven, services))
    await scope.register((proven: App) => providersPages(proven, services))
    await scope.register((proven: App) => deletionPages(proven, services))
    await emailPages(scope, services, limits)
    workspacePages(pages, services)
    seedsPages(pages, services)
    labelsPages(pages, services)
    savedFiltersPages(pages, services)
    seedTablesPages(pages, services)
    seedAddress(scope, services)
    seedPages(pages, services)
    commentsPages(pages, services)
    seedChangesPages(pages, services)
    seedMergingPages(pages, services)
    evidencePages(pages, services)
    attachmentsPages(scope, pages, services)
    peoplePages(pages, services)
    activityPages(pages, services)
    searchPages(pages, services)
    invitesPages(pages, services)
    teamsPages(pages, services)
    agentsPages(pages, { ...services, mcpUrl: `${baseUrl}/agent/mcp` })
    workspaceSettingsPages(pages, services, webUrl)
    ownershipPages(pages, services)
    serviceAccountsPages(pages, services)
    agentPolicyPages(pages, services)
    webhooksPages(pages, services)
    workspaceKeysPages(pages, services)
    // A member who mistypes a path stays in the workspace.
    pages.page('/*', async () => {
      throw errors.routeNotFound()
    })
    await scope.register(async (uploads: App) => {
      await uploads.register(uploadForm, { uploadLimitPerHour })
      profilePhotoForm(uploads, services)
      workspaceIconForm(createUploadPages(uploads, services.workspaces), services)
    })
    await scope.register(async (uploads: App) => {
      await uploads.register(uploadForm, { uploadLimitPerHour, fieldBytesMax: uploadBytesMax })
      seedTableForm(createUploadPages(uploads, services.workspaces), services)
    })
    await scope.register(async (uploads: App) => {
      await uploads.register(streamedUploads, { ...options.fileUploads, admitForm: admitFileOfForm })
      attachmentsUpload(uploads, services)
    })
  })
}

/** Redirects page requests on the API's origin to the website, if it has its own origin. */
function redirectToWebsite(app: App, { baseUrl, webUrl }: { baseUrl: string; webUrl: string }): void {
  const apiHost = new URL(baseUrl).host
  if (apiHost === new URL(webUrl).host) return
  app.addHook('onRequest', async (request, reply) => {
    if (request.method === 'GET' && request.host === apiHost) return reply.redirect(webUrl + request.url, 302)
  })
}
