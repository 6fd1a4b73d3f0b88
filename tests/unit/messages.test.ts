import { describe, expect, it } from 'vitest'
import {
  accessEndedMail,
  accountExistsMail,
  apiKeysCreatedMail,
  inviteAcceptedMail,
  inviteMail,
  passwordChangedMail,
  resetPasswordMail,
  roleChangedMail,
  signedInMail,
  signInLinkMail,
  verifyEmailMail,
  type MailContent,
} from '../../src/mail/messages.ts'

const url = 'https://app.example.com/invites/abc_-'
const evil = `<b onclick="x('y')">&amp;</b>`
const access = {
  ...{ apiKeyCount: 2, grantCount: 1, passkeyCount: 1, identityCount: 0 },
  ...{ emailChangeCount: 1, unconfirmedAppCount: 1 },
}
const minuteMs = 60 * 1000

const mails: [string, (name: string) => MailContent][] = [
  [
    'an invite',
    (name) =>
      inviteMail({
        workspaceName: name,
        invitedByName: name,
        role: 'member',
        inviteUrl: url,
        expiresAt: new Date('2026-11-28T03:04:05.678Z'),
      }),
  ],
  [
    'a notice of a role',
    (name) => roleChangedMail({ workspaceName: name, workspaceUrl: url, actorName: name, role: 'viewer' }),
  ],
  [
    'a notice of an accepted invite',
    (name) => inviteAcceptedMail({ workspaceName: name, workspaceUrl: url, memberName: name }),
  ],
  [
    'a request to verify an address',
    (name) => verifyEmailMail({ name, url, lifetimeMs: 24 * 60 * minuteMs }),
  ],
  ['a link to sign in', (name) => signInLinkMail({ name, url, lifetimeMs: 15 * minuteMs })],
  ['a link to a new password', (name) => resetPasswordMail({ name, url, lifetimeMs: 60 * minuteMs })],
  [
    'a mail about signing up again',
    (name) => accountExistsMail({ name, attempt: 'sign_up', signInUrl: url }),
  ],
  [
    'a mail about an address that is used already',
    (name) => accountExistsMail({ name, attempt: 'change_email', signInUrl: url }),
  ],
  [
    'a mail about a changed password',
    (name) =>
      passwordChangedMail({ name, forgotUrl: url, revoked: access, kept: { ...access, grantCount: 0 } }),
  ],
  [
    'a mail about access that ended',
    (name) => accessEndedMail({ name, clientName: name, workspaceName: name, agentsUrl: url }),
  ],
  [
    'a mail about new keys',
    (name) => apiKeysCreatedMail({ name, keyNames: [name, 'Laptop'], securityUrl: url }),
  ],
  [
    'a mail about a sign-in',
    (name) => signedInMail({ name, browser: 'Firefox on Linux', at: new Date(0), securityUrl: url }),
  ],
]

describe.each(mails)('%s', (_name, mailFor) => {
  it('says the same in both of its forms', () => {
    const { subject, text, html } = mailFor('Ada')
    expect(subject).not.toBe('')
    expect(text).toContain('Ada')
    expect(text.match(/https:\S+/g)).toEqual([url])
    expect(html).toContain(`<a href="${url}">`)
    const words = html
      .replaceAll(/<[^>]+>/g, ' ')
      .replaceAll('&quot;', '"')
      .replaceAll(/\s+/g, ' ')
      .trim()
    const plain = text.replace(`:\n${url}`, '').replaceAll(/\s+/g, ' ').trim()
    expect(words).toBe(plain)
  })

  it('shows names as they are, and as nothing but text', () => {
    const { subject, text, html } = mailFor(evil)
    expect(subject).not.toContain('&lt;')
    expect(text.replaceAll(/\s+/g, ' ')).toContain(evil)
    expect(html).not.toContain('<b ')
    expect(html.replaceAll(/\s+/g, ' ')).toContain(
      '&lt;b onclick=&quot;x(&#39;y&#39;)&quot;&gt;&amp;amp;&lt;/b&gt;',
    )
  })

  it('has nothing of a name that deceives', () => {
    const { subject, text, html } = mailFor('Eve \u202eadA\u200b\u{e0041}')
    for (const part of [subject, text, html]) expect(part).not.toMatch(/[\u202e\u200b]|\u{e0041}/u)
    expect(`${subject}${text}`).toContain('Eve adA')
  })

  it('has no line that is too long to be read in a terminal, but for the link', () => {
    const words = Array.from({ length: 20 }, (_, i) => `word${i}`).join(' ')
    for (const line of mailFor(words.slice(0, 100)).text.split('\n'))
      expect(line.length).toBeLessThanOrEqual(76)
  })

  it('has no line that mail cannot carry, whatever the names', () => {
    for (const name of ['"'.repeat(100), '🧑'.repeat(100), `${'&'.repeat(99)} `]) {
      const { text, html } = mailFor(name)
      for (const line of [...text.split('\n'), ...html.split('\n')])
        expect(Buffer.byteLength(line)).toBeLessThanOrEqual(998)
    }
  })

  it('keeps a name without blanks whole', () => {
    for (const name of ['x'.repeat(100), '漢'.repeat(100), '🧑'.repeat(100)])
      expect(mailFor(name).text.replaceAll(/\s+/g, '')).toContain(name)
  })
})

describe('a mail with a link', () => {
  it.each([
    ['an invite', /^Open the link below to join/, '2026-11-28 03:04 UTC'],
    ['a request to verify an address', /open the link below and enter your password/, 'for 24 hours'],
    ['a link to sign in', /open the link below to sign in/, 'once, within 15 minutes'],
    ['a link to a new password', /open the link below to choose a new password/, 'once, within 1 hour'],
  ])('%s says first what to do, then how long the link works', (name, firstSentence, duration) => {
    const mail = mails.find(([candidate]) => candidate === name)?.[1]('Ada')
    const [first = '', second] = String(mail?.text).split('\n\n')
    expect(first.replaceAll('\n', ' ')).toMatch(firstSentence)
    expect(second?.replaceAll('\n', ' ')).toContain(duration)
    expect(mail?.text).toContain('ignore this email')
  })
})

describe('a notice', () => {
  it('says why it was sent', () => {
    for (const [, mailFor] of mails.slice(1, 3)) {
      const words = mailFor('Ada').text.replaceAll(/\s+/g, ' ')
      expect(words).toContain('because notifications about activity in your workspaces are on')
    }
  })
})
