import { ApiError } from '../../kernel/errors.ts'
import { isId } from '../../kernel/ids.ts'
import { seedStatuses } from '../../domain/seeds.ts'
import type { Services } from '../../services/services.ts'
import { openedOf } from '../components/edits.ts'
import { readQuery } from '../components/lists.ts'
import { readTheme, themes, type Theme } from '../components/theme.ts'
import { statusNames } from '../seeds/seed-status.views.ts'
import { inboxPath } from '../views/notification.views.ts'
import type { WorkspaceVisit } from '../plugins/workspace-visit.ts'

/** Something that the command palette does: it opens a page, or sends a form. public/palette.js reads it. */
export interface PaletteAction {
  label: string
  /** What it is done to. */
  detail: string
  /** The page that it opens, or the address of its form. */
  href: string
  /** The fields of the form, without the CSRF token, which the page has. */
  fields?: Record<string, string>
}

const themeActions: Record<Theme, string> = {
  system: 'Use the theme of the device',
  light: 'Use the light theme',
  dark: 'Use the dark theme',
}

/** What the person can do from anywhere, and with the seed whose page they are on, as far as their role allows. */
export async function listPaletteActions(
  visit: WorkspaceVisit,
  services: Pick<Services, 'seeds'>,
): Promise<PaletteAction[]> {
  const { base, may, request } = visit
  const current = readTheme(request)
  return [
    ...(may('seeds.create') ? [{ label: 'New seed', detail: '', href: `${base}/seeds/new` }] : []),
    ...(may('invites.create') ? [{ label: 'Invite people', detail: '', href: `${base}/invites` }] : []),
    ...(await listSeedActions(visit, services)),
    { label: 'Go to your inbox', detail: '', href: inboxPath },
    ...themes
      .filter((theme) => theme !== current)
      .map((theme) => ({
        label: themeActions[theme],
        detail: '',
        href: '/settings/theme',
        fields: { theme },
      })),
  ]
}

/** The other statuses of the seed on whose page the person is, by the parameter `at`. */
async function listSeedActions(
  { base, may, principal, request }: WorkspaceVisit,
  { seeds }: Pick<Services, 'seeds'>,
): Promise<PaletteAction[]> {
  const at = readQuery(request, 'at')
  const seedId = at.startsWith(`${base}/seeds/`) ? at.slice(`${base}/seeds/`.length) : ''
  if (!isId(seedId) || !may('seeds.update')) return []
  try {
    const { title, status } = await seeds.get(principal, seedId)
    return seedStatuses
      .filter((other) => other !== status)
      .map((other) => ({
        label: `Change the status to ${statusNames[other].toLowerCase()}`,
        detail: title,
        href: `${base}/seeds/${seedId}/status`,
        // Refused if the status is another one by then.
        fields: { status: other, ...openedOf({ status }) },
      }))
  } catch (error) {
    // It was deleted meanwhile.
    if (error instanceof ApiError && error.code === 'not_found') return []
    throw error
  }
}
