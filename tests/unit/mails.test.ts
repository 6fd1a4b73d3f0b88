import { describe, expect, it } from 'vitest'
import { serviceName } from '../../src/domain/service-name.ts'
import { accessEndedMail, accessEndsMail } from '../../src/mail/access-mails.ts'
import type { MailContent } from '../../src/mail/compose.ts'
import {
  accountExistsMail,
  resetPasswordMail,
  signInLinkMail,
  verifyEmailMail,
} from '../../src/mail/link-mails.ts'
import { apiKeysCreatedMail, passwordChangedMail, signedInMail } from '../../src/mail/security-mails.ts'
import {
  digestMail,
  inviteMail,
  invitesAcceptedMail,
  mentionMail,
  roleChangedMail,
} from '../../src/mail/workspace-mails.ts'
import { describeTime } from '../../src/mail/times.ts'

const url = 'https://app.example.com/invites/abc_-'
const settingsUrl = 'https://app.example.com/settings/notifications'
const evil = `<b onclick="x('y')">&amp;</b>`
const access = {
  ...{ apiKeyCount: 2, grantCount: 1, passkeyCount: 1, identityCount: 0 },
  ...{ emailChangeCount: 1, unconfirmedAppCount: 1 },
}
const minuteMs = 60 * 1000

const mails: [string, (name: string) => MailContent][] = [
  [
    'the invite email',
    (name) =>
      inviteMail({
        workspaceName: name,
        invitedByName: name,
        role: 'member',
        inviteUrl: url,
        expiresAt: new Date('2026-11-28T03:04:05.678Z'),
        now: new Date('2026-11-21T03:04:06.789Z'),
      }),
  ],
  [
    'the role change email',
    (name) =>
      roleChangedMail({
        workspaceName: name,
        workspaceUrl: url,
        actorName: name,
        role: 'viewer',
        settingsUrl,
      }),
  ],
  [
    'the accepted invite email',
    (name) =>
      invitesAcceptedMail({
        accepted: [{ memberName: name, workspaceName: name, url }],
        count: 1,
        link: { label: 'Open the workspace', url },
        settingsUrl,
      }),
  ],
  [
    'the mention email',
    (name) =>
      mentionMail({ text: `${name} mentioned you`, workspaceName: name, quote: name, url, settingsUrl }),
  ],
  [
    'the email about access that ends',
    (name) =>
      accessEndsMail({
        ...{ clientName: name, workspaceName: name, agentUrl: url, settingsUrl },
        expiresAt: new Date('2026-11-28T03:04:05.678Z'),
        now: new Date('2026-11-21T03:04:06.789Z'),
      }),
  ],
  [
    'the address verification email',
    (name) => verifyEmailMail({ name, url, lifetimeMs: 24 * 60 * minuteMs }),
  ],
  ['the sign-in link email', (name) => signInLinkMail({ name, url, lifetimeMs: 15 * minuteMs })],
  ['the password reset email', (name) => resetPasswordMail({ name, url, lifetimeMs: 60 * minuteMs })],
  [
    'the email about an existing account after a sign-up',
    (name) => accountExistsMail({ name, attempt: 'sign_up', signInUrl: url }),
  ],
  [
    'the email about an existing account after an address change',
    (name) => accountExistsMail({ name, attempt: 'change_email', signInUrl: url }),
  ],
  [
    'the password change email',
    (name) =>
      passwordChangedMail({ name, forgotUrl: url, revoked: access, kept: { ...access, grantCount: 0 } }),
  ],
  [
    'the ended access email',
    (name) => accessEndedMail({ name, clientName: name, workspaceName: name, agentsUrl: url }),
  ],
  [
    'the new API keys email',
    (name) => apiKeysCreatedMail({ name, keyNames: [name, 'Laptop'], securityUrl: url }),
  ],
  [
    'the new sign-in email',
    (name) => signedInMail({ name, browser: 'Firefox on Linux', at: new Date(0), securityUrl: url }),
  ],
]

describe.each(mails)('%s', (_name, mailFor) => {
  it('has the same words in its text and its HTML part', () => {
    const { subject, text, html } = mailFor('Ada')
    expect(subject).not.toBe('')
    expect(text).toContain('Ada')
    const isNotice = text.includes('are on in your settings')
    expect(text.match(/https:\S+/g)).toEqual(isNotice ? [url, settingsUrl] : [url])
    // A button, and the address for those who do not see it.
    expect(html.match(/<a [^>]*href="[^"]*"/g)).toHaveLength(isNotice ? 3 : 2)
    expect(html).toContain(`<a href="${url}">${url}</a>`)
    const words = html
      .replaceAll(/<[^>]+>/g, ' ')
      .replaceAll('&quot;', '"')
      .replaceAll(/\s+/g, ' ')
      .trim()
    const address = ` If the button does not work, open this address: ${url}`
    const plain = text
      .replace(`:\n${url}`, address)
      .replace(`:\n${settingsUrl}`, '')
      .replaceAll(/^> /gm, '')
      .replaceAll(/\s+/g, ' ')
      .trim()
    expect(words).toBe(plain)
  })

  it('begins with the name of the service, loads nothing, and leaves colors to the mail program', () => {
    const { text, html } = mailFor('Ada')
    expect(text.split('\n')[0]).toBe(serviceName)
    expect(html).toContain(`>${serviceName}</p>`)
    expect(html).toContain('<meta name="color-scheme" content="light dark">')
    expect(html).not.toMatch(/<(?:img|link|style|script)|url\(|src=/i)
  })

  it('shows names unchanged, and escapes them in HTML', () => {
    const { subject, text, html } = mailFor(evil)
    expect(subject).not.toContain('&lt;')
    expect(text.replaceAll(/\s+/g, ' ')).toContain(evil)
    expect(html).not.toContain('<b ')
    expect(html.replaceAll(/\s+/g, ' ')).toContain(
      '&lt;b onclick=&quot;x(&#39;y&#39;)&quot;&gt;&amp;amp;&lt;/b&gt;',
    )
  })

  it('removes deceptive characters from names', () => {
    const { subject, text, html } = mailFor('Eve \u202eadA\u200b\u{e0041}')
    for (const part of [subject, text, html]) expect(part).not.toMatch(/[\u202e\u200b]|\u{e0041}/u)
    expect(`${subject}${text}`).toContain('Eve adA')
  })

  it('wraps text at 76 characters, except for the link', () => {
    const words = Array.from({ length: 20 }, (_, i) => `word${i}`).join(' ')
    for (const line of mailFor(words.slice(0, 100)).text.split('\n'))
      expect(line.length).toBeLessThanOrEqual(76)
  })

  it('has no line longer than 998 bytes, for any name', () => {
    for (const name of ['"'.repeat(100), '🧑'.repeat(100), `${'&'.repeat(99)} `]) {
      const { text, html } = mailFor(name)
      for (const line of [...text.split('\n'), ...html.split('\n')])
        expect(Buffer.byteLength(line)).toBeLessThanOrEqual(998)
    }
  })

  it('does not break a name without spaces', () => {
    for (const name of ['x'.repeat(100), '漢'.repeat(100), '🧑'.repeat(100)])
      expect(mailFor(name).text.replaceAll(/\s+/g, '')).toContain(name)
  })
})

describe('an email with a link', () => {
  it.each([
    ['the invite email', /^Open the link below to join/, 'in 7 days, on 28 November 2026 at 03:04 UTC'],
    ['the address verification email', /open the link below and enter your password/, 'for 24 hours'],
    ['the sign-in link email', /open the link below to sign in/, 'once, within 15 minutes'],
    ['the password reset email', /open the link below to choose a new password/, 'once, within 1 hour'],
  ])('%s explains what to do, and then how long the link is valid', (name, firstSentence, duration) => {
    const mail = mails.find(([candidate]) => candidate === name)?.[1]('Ada')
    const [, first = '', second] = String(mail?.text).split('\n\n')
    expect(first.replaceAll('\n', ' ')).toMatch(firstSentence)
    expect(second?.replaceAll('\n', ' ')).toContain(duration)
    expect(mail?.text).toContain('ignore this email')
  })
})

describe('a notification email', () => {
  it('explains why it was sent, with a link to the settings', () => {
    for (const [, mailFor] of mails.slice(1, 5)) {
      const { text, html } = mailFor('Ada')
      const words = text.replaceAll(/\s+/g, ' ')
      expect(words).toContain('because notifications about activity in your workspaces are on')
      expect(words).toContain(`Choose which emails you get: ${settingsUrl}`)
      expect(html).toContain(`<a href="${settingsUrl}">Choose which emails you get</a>`)
    }
  })
})

describe('the digest email', () => {
  const digest = (unnamedCount: number, name = 'Ada') =>
    digestMail({
      items: [1, 2].map((i) => ({
        text: `${name} did ${i}`,
        url: `${url}/${i}`,
        note: `1 new comment, in ${name}.`,
        quotes: [{ text: `${name} commented`, quote: `What ${name}\nwrote` }],
      })),
      due: [],
      ...{ text: 'Ada did 1', count: 2 + unnamedCount, unnamedCount, inboxUrl: url, settingsUrl },
    })

  it('lists what happened with a link each and what was written, and counts the rest', () => {
    const { subject, text, html } = digest(3)
    expect(subject).toBe('Ada did 1, and 4 more')
    expect(text).toContain(
      `Ada did 1:\n${url}/1\n\n1 new comment, in Ada.\n\nAda commented:\n> What Ada\n> wrote\n`,
    )
    expect(html).toContain(`<a href="${url}/2">Ada did 2</a>`)
    expect(html).toMatch(/<blockquote [^>]*>\n<div dir="auto">What Ada<\/div>\n<div dir="auto">wrote<\/div>/)
    for (const part of [text, html]) expect(part).toContain('And 3 more.')
    expect(digest(0).text).not.toContain('more.')
    expect(text.replaceAll(/\s+/g, ' ')).toContain('one such email a day')
  })

  it('shows names unchanged, escapes them in HTML, and removes deceptive characters', () => {
    const { text, html } = digest(0, evil)
    expect(text.replaceAll(/\s+/g, ' ')).toContain(evil)
    expect(html).not.toContain('<b ')
    expect(digest(0, 'Eve \u202e').html).not.toContain('\u202e')
  })
})

describe('the email about accepted invites', () => {
  const mailFor = (accepted: { memberName: string; workspaceName: string }[], count = accepted.length) =>
    invitesAcceptedMail({
      accepted: accepted.map((one) => ({ ...one, url })),
      ...{ count, link: { label: 'Open the workspace', url }, settingsUrl },
    })

  it('names all who came, and where if it was not one workspace', () => {
    const of = (workspaceName: string) => (memberName: string) => ({ memberName, workspaceName })
    const one = mailFor(['Ida', 'Ben'].map(of('Acme')), 40)
    expect(one.subject).toBe('40 people joined Acme')
    expect(one.text).toContain(`Ida:\n${url}\n\nBen:\n${url}\n\nAnd 38 more.`)
    const several = mailFor([of('Acme')('Ida'), of('Beta')('Ben')])
    expect(several.subject).toBe('2 people joined your workspaces')
    expect(several.text).toContain('Ben, in Beta:')
  })
})

describe('a quote in an email', () => {
  const mailFor = (quote: string) =>
    mentionMail({ text: 'Ada mentioned you', workspaceName: 'Acme', quote, url, settingsUrl })
  const quotedIn = (quote: string) =>
    mailFor(quote)
      .text.split('\n')
      .filter((line) => line.startsWith('>'))

  it('is set off line by line, so that nothing of it looks like the rest of the mail', () => {
    const forged = `Hi\n\nOpen the comment:\nhttps://evil.example/\n-- \nYou receive this email`
    const { text, html } = mailFor(forged)
    expect(quotedIn(forged)).toEqual([
      '> Hi',
      '> ',
      '> Open the comment:',
      '> https://evil.example/',
      '> --',
      '> You receive this email',
    ])
    expect(text.split('\n').filter((line) => line.includes('evil.example'))).toHaveLength(1)
    expect(html).not.toContain('href="https://evil')
    const afterQuote = html.slice(html.indexOf('</blockquote>'))
    expect(afterQuote).not.toContain('evil.example')
    expect(mailFor('</div></blockquote><a href="https://evil.example">x</a>').html).not.toContain(
      '<a href="https://evil',
    )
  })

  it('has no character that turns the direction of the text around it', () => {
    const { text, html } = mailFor('a\u202eb\u2066c\u200bd')
    for (const part of [text, html]) expect(part).toContain('abcd')
  })

  it('is wrapped at 72 columns: words, long words, wide characters and emoji, but no address', () => {
    for (const quote of ['word '.repeat(60), 'x'.repeat(400), '漢字'.repeat(100), '👨‍👩‍👧‍👦'.repeat(60)]) {
      const lines = quotedIn(quote)
      expect(lines.length, quote).toBeGreaterThan(1)
      for (const line of lines) {
        const wide = line.match(
          /\p{Script=Han}|\p{Extended_Pictographic}(?:\u200d\p{Extended_Pictographic})*/gu,
        )
        const others = line.replaceAll(/\p{Script=Han}|\p{Extended_Pictographic}|\u200d/gu, '')
        expect((wide?.length ?? 0) * 2 + others.length, line).toBeLessThanOrEqual(72)
      }
      const unwrapped = lines.map((line) => line.slice(2)).join(quote.includes(' ') ? ' ' : '')
      expect(unwrapped.trim()).toBe(quote.trim())
    }
    const address = `https://example.com/${'y'.repeat(100)}`
    expect(quotedIn(`See ${address} there`)).toEqual(['> See', `> ${address}`, '> there'])
  })
})

describe('a time in a mail', () => {
  it.each([
    ['2026-11-30T22:44:59Z', 'in 7 days, on 30 November 2026 at 22:44 UTC'],
    ['2026-11-25T22:44:00Z', 'in 2 days, on 25 November 2026 at 22:44 UTC'],
    ['2026-11-25T22:43:00Z', 'in 48 hours, on 25 November 2026 at 22:43 UTC'],
    ['2026-11-24T00:44:00Z', 'in 2 hours, on 24 November 2026 at 00:44 UTC'],
    ['2026-11-23T22:45:00Z', 'in 1 minute, on 23 November 2026 at 22:45 UTC'],
    ['2026-11-23T22:43:00Z', 'on 23 November 2026 at 22:43 UTC'],
  ])('%s is described as %s', (time, words) => {
    expect(describeTime(new Date(time), new Date('2026-11-23T22:44:00Z'))).toBe(words)
  })
})
