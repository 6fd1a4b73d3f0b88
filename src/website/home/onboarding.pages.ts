import type { FastifyRequest } from 'fastify'
import type { Offer } from '../../areas/members/offers.service.ts'
import type { OwnInvite } from '../../areas/invites/received-invites.service.ts'
import type { Membership } from '../../areas/workspaces/workspaces.service.ts'
import type { App } from '../../http/app-types.ts'
import { parseJson } from '../../kernel/json-text.ts'
import { suggestSlug } from '../../domain/slugs.ts'
import { nameLengthMax } from '../../kernel/text.ts'
import type { Services } from '../../services/services.ts'
import { answerForm } from '../plugins/answer-form.ts'
import { renderAction, renderField, renderForm, stateOf } from '../components/forms.ts'
import { form, readField } from '../components/sent-form.ts'
import { html, type Html } from '../components/html.ts'
import { renderIcon } from '../components/layout.ts'
import { readQuery, renderRows } from '../components/lists.ts'
import { notice, renderDone } from '../components/notice.ts'
import type { Page } from '../plugins/pages.ts'
import { describeJoined } from '../views/joined.views.ts'
import { findPendingConsent } from '../plugins/pending-consent.ts'
import { renderRole } from '../views/roles.views.ts'
import { countOf, renderDate } from '../components/words.ts'
import { renderSlugField } from '../settings/workspace-settings.pages.ts'

/** The most invites and offers that the page shows. */
const shownMax = 20

interface WithId {
  Params: { id: string }
}

/** The page with a person's workspaces, invites and offers, and the form that creates a workspace. */
export function onboardingPages(
  app: App,
  {
    offers,
    receivedInvites,
    sentForms,
    workspaces,
    entry,
  }: Pick<Services, 'entry' | 'offers' | 'receivedInvites' | 'sentForms' | 'workspaces'>,
  webUrl: string,
): void {
  const page = '/onboarding'

  app.get(page, async (request, reply) => {
    const { principal } = request
    const [memberships, ofInvites, ofOffers, ofNewOffers] = await Promise.all([
      workspaces.list(principal),
      receivedInvites.list(principal, { limit: shownMax }),
      offers.list(principal, { limit: shownMax }),
      offers.list(principal, { limit: shownMax, isNew: true }),
    ])
    const invited = parseJson(ofInvites.items)
    // The invite has the role that they join with.
    const isInvited = (slug: string) => invited.some(({ workspaceSlug }) => workspaceSlug === slug)
    return reply.showPage(
      renderOnboarding(request, {
        memberships: parseJson(memberships),
        invited,
        offered: parseJson(ofOffers.items).filter(({ workspaceSlug }) => !isInvited(workspaceSlug)),
        newOffers: new Set(parseJson(ofNewOffers.items).map(({ workspaceId }) => workspaceId)),
        canCreate: entry.hasWorkspaceCreation,
        webUrl,
      }),
    )
  })

  app.post(page, form, async (request, reply) => {
    const create = async () => {
      const input = { name: readField(request, 'name'), slug: readField(request, 'slug').trim() }
      const { slug } = await workspaces.create(request.principal, input)
      return findPendingConsent(request) ?? `/w/${slug}`
    }
    return answerForm(request, reply, page, create, sentForms)
  })

  app.post<WithId>('/onboarding/invites/:id/accept', form, async (request, reply) => {
    const accept = async () => {
      const accepted = await receivedInvites.acceptById(request.principal, request.params.id)
      return findPendingConsent(request) ?? { path: `/w/${accepted.slug}`, notice: describeJoined(accepted) }
    }
    return answerForm(request, reply, page, accept, sentForms)
  })

  app.post<WithId>('/onboarding/invites/:id/decline', form, async (request, reply) =>
    answerForm(request, reply, page, async () => {
      await receivedInvites.declineById(request.principal, request.params.id)
      return { path: page, notice: notice`The invite was declined.` }
    }),
  )

  app.post<WithId>('/onboarding/offers/:id/join', form, async (request, reply) =>
    answerForm(request, reply, page, async () => {
      const slug = await offers.join(request.principal, request.params.id)
      return findPendingConsent(request) ?? `/w/${slug}`
    }),
  )

  app.post<WithId>('/onboarding/offers/:id/decline', form, async (request, reply) => {
    await offers.decline(request.principal, request.params.id)
    return reply.redirect('/', 303)
  })

  // For public/site.js: whether a slug is available, or one for a name.
  app.get('/onboarding/slug', async (request) => {
    const name = readQuery(request, 'name')
    const slug = name === '' ? readQuery(request, 'slug') : await suggestSlug(name)
    return { slug, available: await workspaces.isSlugAvailable(request.principal, slug) }
  })
}

interface Onboarding {
  memberships: Membership[]
  invited: OwnInvite[]
  offered: Offer[]
  /** Those of them that the person neither declined nor left. */
  newOffers: ReadonlySet<string>
  canCreate: boolean
  webUrl: string
}

function renderOnboarding(
  request: FastifyRequest,
  { memberships, invited, offered, newOffers, canCreate, webUrl }: Onboarding,
): Page {
  const action = '/onboarding'
  const state = stateOf(request.flash.state, action)
  const isFirst = memberships.length === 0
  const mayJoin = invited.length > 0 || offered.length > 0
  const title = isFirst ? titleOfFirst({ mayJoin, canCreate }) : 'Your workspaces'
  return {
    title,
    isOnTheWay: true,
    body: html`<section class="narrow">
      <h1>${title}</h1>
      ${renderDone(request)}
      ${isFirst ? renderIntroduction(invited, canCreate) : renderMemberships(memberships)}
      ${invited.length > 0 && renderInvites(request, invited)}
      ${offered.length > 0 && renderOffers(request, offered, newOffers)}
      ${canCreate && (!isFirst || mayJoin) && html`<h2>${isFirst ? 'Create a workspace' : 'Create another workspace'}</h2>`}
      ${
        canCreate &&
        renderForm({
          request,
          action,
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
            <button>Create workspace</button>`,
        })
      }
    </section>`,
  }
}

function titleOfFirst({ mayJoin, canCreate }: { mayJoin: boolean; canCreate: boolean }): string {
  if (!canCreate) return mayJoin ? 'Join a workspace' : 'You are not in a workspace yet'
  return mayJoin ? 'Join or create a workspace' : 'Create a workspace'
}

function renderIntroduction(invited: readonly OwnInvite[], canCreate: boolean): Html {
  return html`<p>
    A workspace is where you and your colleagues work
    together.${invited.length === 0 && ` To join ${canCreate ? 'an existing ' : ''}one, ask an owner or an admin to invite you.`}
  </p>`
}

function renderInvites(request: FastifyRequest, invited: readonly OwnInvite[]): Html {
  return html`<h2 id="invites">Invites for you</h2>
    ${renderRows(
      invited.map(
        ({ id, workspaceName, workspaceIconUrl, role, invitedByName, expiresAt }) =>
          html`<div class="row">
            ${renderIcon({ name: workspaceName, iconUrl: workspaceIconUrl }, 40)}
            <div class="grow">
              <bdi>${workspaceName}</bdi>
              <span class="hint">
                invited by <bdi>${invitedByName}</bdi> · expires on ${renderDate(expiresAt)}
              </span>
            </div>
            ${renderRole(role)}
            ${renderAction(request, {
              action: `/onboarding/invites/${id}/accept`,
              label: 'Accept',
              description: html`the invite to <bdi>${workspaceName}</bdi>`,
            })}
            ${renderAction(request, {
              action: `/onboarding/invites/${id}/decline`,
              label: 'Decline',
              description: html`the invite to <bdi>${workspaceName}</bdi>`,
            })}
          </div>`,
      ),
      null,
    )}`
}

function renderMemberships(memberships: readonly Membership[]): Html {
  return renderRows(
    memberships.map(
      ({ id, name, slug, iconUrl, role }) =>
        html`<div class="row">
          ${renderIcon({ id, name, iconUrl }, 40)}
          <div class="grow">
            <a class="title" href="/w/${slug}"><bdi>${name}</bdi></a>
          </div>
          ${renderRole(role)}
        </div>`,
    ),
    null,
  )
}

function renderOffers(
  request: FastifyRequest,
  offered: readonly Offer[],
  newOffers: ReadonlySet<string>,
): Html {
  return html`<h2>Workspaces that you can join</h2>
    <p>They are open to people with an email address at your domain.</p>
    ${renderRows(
      offered.map(
        ({ workspaceId: id, workspaceName: name, workspaceIconUrl: iconUrl, memberCount }) =>
          html`<div class="row">
            ${renderIcon({ id, name, iconUrl }, 40)}
            <div class="grow">
              <strong><bdi>${name}</bdi></strong>
              <span class="hint">${countOf(memberCount, 'member')}</span>
            </div>
            ${renderAction(request, {
              action: `/onboarding/offers/${id}/join`,
              label: 'Join',
              description: html`<bdi>${name}</bdi>`,
            })}
            ${
              newOffers.has(id) &&
              renderAction(request, {
                action: `/onboarding/offers/${id}/decline`,
                label: 'Decline',
                description: html`<bdi>${name}</bdi>`,
              })
            }
          </div>`,
      ),
      null,
    )}`
}
