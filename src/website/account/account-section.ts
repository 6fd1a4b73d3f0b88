import type { Section } from '../components/layout.ts'

/** The navigation of a person's settings. */
export function accountSection(current: string): Section {
  const links = [
    ['Profile', '/settings/profile'],
    ['Email settings', '/settings/notifications'],
    ['Security', '/settings/security'],
  ] as const
  return {
    name: 'Your settings',
    links: links.map(([label, href]) => ({ label, href, isCurrent: label === current })),
  }
}
