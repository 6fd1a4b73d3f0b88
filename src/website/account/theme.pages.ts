import type { App } from '../../http/app-types.ts'
import { form, readField } from '../components/sent-form.ts'
import { themeCookie, themes } from '../components/theme.ts'

const keptSeconds = 365 * 24 * 60 * 60

/** The form of the color scheme, which leads back to the page that it was on. */
export function themePages(app: App): void {
  app.post('/settings/theme', form, async (request, reply) => {
    const theme = themes.find((word) => word === readField(request, 'theme')) ?? 'system'
    return reply
      .remember(themeCookie, theme === 'system' ? undefined : theme, keptSeconds)
      .redirect(request.visit.referringPage ?? '/', 303)
  })
}
