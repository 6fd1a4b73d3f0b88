import { describe, expect, it } from 'vitest'
import { inviteAcceptedMail, inviteMail, roleChangedMail, type MailContent } from '../../src/mail/messages.ts'

const url = 'https://app.example.com/invites/abc_-'
const evil = `<b onclick="x('y')">&amp;</b>`

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
]

describe.each(mails)('%s', (_name, mailFor) => {
  it('says the same in both of its forms', () => {
    const { subject, text, html } = mailFor('Ada')
    expect(subject).toContain('Ada')
    expect(text.match(/https:\S+/g)).toEqual([url])
    expect(html).toContain(`<a href="${url}">`)
    const words = html
      .replaceAll(/<[^>]+>/g, ' ')
      .replaceAll(/\s+/g, ' ')
      .trim()
    const plain = text.replace(`:\n${url}`, '').replaceAll(/\s+/g, ' ').trim()
    expect(words).toBe(plain)
  })

  it('shows names as they are, and as nothing but text', () => {
    const { subject, text, html } = mailFor(evil)
    expect(subject).toContain(evil)
    expect(text.replaceAll(/\s+/g, ' ')).toContain(evil)
    expect(html).not.toContain('<b ')
    expect(html).toContain('&lt;b onclick=&quot;x(&#39;y&#39;)&quot;&gt;&amp;amp;&lt;/b&gt;')
  })

  it('has no line that is too long to be read raw', () => {
    const words = Array.from({ length: 20 }, (_, i) => `word${i}`).join(' ')
    for (const line of mailFor(words.slice(0, 100)).text.split('\n'))
      expect(line.length).toBeLessThanOrEqual(76)
  })

  it('keeps a name without blanks whole', () => {
    for (const name of ['x'.repeat(100), '漢'.repeat(100), '🧑'.repeat(100)])
      expect(mailFor(name).text.replaceAll(/\s+/g, '')).toContain(name)
  })
})

describe('an invite', () => {
  it('tells until when it can be accepted, and what to do otherwise', () => {
    const mail = mails[0]?.[1]('Ada')
    expect(mail?.text).toContain('2026-11-28 03:04 UTC')
    expect(mail?.text).toContain('do nothing')
  })
})

describe('a notice', () => {
  it('tells why it came', () => {
    for (const [, mailFor] of mails.slice(1)) {
      const words = mailFor('Ada').text.replaceAll(/\s+/g, ' ')
      expect(words).toContain('because your notices of workspace activity are on')
    }
  })
})
