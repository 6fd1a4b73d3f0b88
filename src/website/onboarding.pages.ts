import type { FastifyRequest } from 'fastify'
import type { Membership } from '../areas/workspaces/workspaces.service.ts'
import type { App } from '../http/app-types.ts'
import { nameLengthMax } from '../kernel/text.ts'
import type { Services } from '../services.ts'
import { emptyForm, form, readField, renderField, renderForm, type FormState } from './forms.ts'
import { html } from './html.ts'
import { renderPicture } from './layout.ts'
import { renderRows } from './lists.ts'
import type { Page } from './pages.ts'
import { renderSlugField } from './workspace-settings.pages.ts'
import { renderRole } from './workspace.pages.ts'
import { answer } from './workspace-visit.ts'

/** Where somebody finds their workspaces, or makes one. */
export function onboardingPages(
  app: App,
  { workspaces }: Pick<Services, 'workspaces'>,
  webUrl: string,
): void {
  const show = async ({ request, state }: { request: FastifyRequest; state: FormState }) =>
    renderOnboarding(request, state, { memberships: await workspaces.list(request.principal), webUrl })

  app.get('/onboarding', async (request, reply) => reply.showPage(await show({ request, state: emptyForm })))

  app.post('/onboarding', form, async (request, reply) =>
    answer(reply, { request, state: emptyForm }, show, async () => {
      const input = { name: readField(request, 'name'), slug: readField(request, 'slug').trim() }
      const { slug } = await workspaces.create(request.principal, input)
      return `/w/${slug}`
    }),
  )

  app.get<{ Querystring: { slug?: string } }>('/onboarding/slug', async (request) => ({
    available: await workspaces.isSlugAvailable(request.principal, request.query.slug ?? ''),
  }))
}

function renderOnboarding(
  request: FastifyRequest,
  state: FormState,
  { memberships, webUrl }: { memberships: Membership[]; webUrl: string },
): Page {
  const isFirst = memberships.length === 0
  return {
    title: isFirst ? 'Create a workspace' : 'Your workspaces',
    body: html`<section class="narrow">
      ${
        isFirst
          ? html`<h1>Create a workspace</h1>
              <p>
                A workspace is where you and your colleagues work together. Are you looking for one that
                exists? Ask somebody in it to invite you.
              </p>`
          : html`<h1>Your workspaces</h1>
              ${renderRows(
                memberships.map(
                  ({ name, slug, iconUrl, role }) =>
                    html`<div class="row">
                      ${renderPicture(iconUrl, name, 40)}
                      <div class="grow"><a href="/w/${slug}">${name}</a></div>
                      ${renderRole(role)}
                    </div>`,
                ),
                null,
              )}
              <h2>Create another</h2>`
      }
      ${renderForm({
        request,
        action: '/onboarding',
        state,
        fields: ['name', 'slug'],
        body: html`${renderField({
            name: 'name',
            label: 'Name',
            maxLength: nameLengthMax,
            autocomplete: 'organization',
            state,
          })}
          ${renderSlugField({ webUrl, checkPath: '/onboarding/slug', fromId: 'name', state })}
          <button>Create the workspace</button>`,
      })}
    </section>`,
  }
}
