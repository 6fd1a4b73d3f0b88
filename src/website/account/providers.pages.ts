import type { FastifyRequest } from 'fastify'
import type { App } from '../../http/app-types.ts'
import type { Services } from '../../services/services.ts'
import { answerForm } from '../plugins/answer-form.ts'
import { renderAction } from '../components/forms.ts'
import { form } from '../components/sent-form.ts'
import { html, type Html } from '../components/html.ts'
import {
  beginIdentityFlow,
  providersPath,
  requireProvider,
  type WithProvider,
} from '../sign-in/identity.pages.ts'
import { renderConfirmed, renderRows } from '../components/lists.ts'
import type { Page } from '../plugins/pages.ts'
import { securityPage } from './security.views.ts'
import { provenOnly } from '../plugins/web-session.ts'
import { renderDate } from '../components/words.ts'
import { notice } from '../components/notice.ts'

type ProviderServices = Pick<Services, 'identities' | 'identityProviders'>

/** A provider, and since when the person has linked an account of it. */
interface LinkedProvider {
  id: string
  name: string
  since: string | undefined
}

/** The identity providers that a person signs in with. */
export async function providersPages(app: App, services: ProviderServices): Promise<void> {
  const { identities, identityProviders } = services
  await app.register(provenOnly, { page: providersPath })

  app.get(providersPath, async (request, reply) => {
    const linked = identityProviders.map(async (provider) => ({
      id: provider.id,
      name: provider.name,
      since: await identities.findLinked(request.principal, provider),
    }))
    return reply.showPage(renderProviders(request, await Promise.all(linked)))
  })

  app.post<WithProvider>(`${providersPath}/:provider/link`, form, async (request, reply) => {
    const provider = requireProvider(identityProviders, request)
    const url = await beginIdentityFlow(request, reply, provider, { linkOf: request.visit.sessionId })
    return reply.redirect(url, 303)
  })

  app.post<WithProvider>(`${providersPath}/:provider/unlink`, form, async (request, reply) =>
    answerForm(request, reply, providersPath, async () => {
      const provider = requireProvider(identityProviders, request)
      await identities.unlink(request.principal, provider)
      return { path: providersPath, notice: notice`Your account at ${provider.name} was unlinked.` }
    }),
  )
}

function renderProviders(request: FastifyRequest, providers: readonly LinkedProvider[]): Page {
  const page = securityPage(
    'Sign-in providers',
    request,
    html`<p>Sign in with an account that you already have at another service.</p>
      ${renderRows(
        providers.map((provider) => renderProvider(request, provider)),
        html`<p>This service has no identity providers.</p>`,
      )}`,
  )
  // The form redirects to the provider.
  return { ...page, mayLeave: true }
}

function renderProvider(request: FastifyRequest, { id, name, since }: LinkedProvider): Html {
  const path = `${providersPath}/${encodeURIComponent(id)}`
  return html`<div class="row">
    <div class="grow">
      <strong>${name}</strong>
      <span class="hint">${since === undefined ? 'not linked' : html`linked ${renderDate(since)}`}</span>
    </div>
    ${
      since === undefined
        ? renderAction(request, { action: `${path}/link`, label: 'Link', description: name })
        : renderConfirmed({
            label: 'Unlink',
            description: name,
            question: `You can no longer sign in with your account at ${name}.`,
            action: renderAction(request, {
              action: `${path}/unlink`,
              label: `Unlink ${name}`,
              isDangerous: true,
            }),
          })
    }
  </div>`
}
