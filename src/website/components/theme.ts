import type { FastifyRequest } from 'fastify'

/** The color schemes that people choose from. `system` is that of the device. */
export const themes = ['system', 'light', 'dark'] as const

export type Theme = (typeof themes)[number]

/** The name of the cookie that keeps the choice, for `FastifyReply.remember`. */
export const themeCookie = 'theme'

const themeOfCookies = new RegExp(`(?:^|; )(?:__Host-)?${themeCookie}=(light|dark)(?:;|$)`)

/** The chosen color scheme. Also of pages that read no session. */
export function readTheme({ headers }: Pick<FastifyRequest, 'headers'>): Theme {
  return (themeOfCookies.exec(headers.cookie ?? '')?.[1] as Theme | undefined) ?? 'system'
}
