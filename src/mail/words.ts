/** How a mail to a person begins, whose name may not be known. */
export const greet = (name: string | undefined) => (name === undefined ? 'Hello' : `Hello ${name}`)

/** The end of notices that people can turn off. */
export const noticeFooter =
  'You receive this email because notifications about activity in your workspaces are on in your settings.'

/** What notices that people can turn off end with. */
export const noticeEnd = (settingsUrl: string, ...sentences: string[]) => ({
  footer: [...sentences, noticeFooter].join(' '),
  footerLink: { label: 'Choose which emails you get', url: settingsUrl },
})
