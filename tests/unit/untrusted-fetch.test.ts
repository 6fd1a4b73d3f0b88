import { expect, it, vi } from 'vitest'
import { createUntrustedFetch } from '../../src/platform/untrusted-fetch.ts'
import { eventually } from '../support/eventually.ts'

it('fetches at most ten documents concurrently, and starts the next when one has finished', async () => {
  const sent: string[] = []
  const answers: ((response: Response) => void)[] = []
  const fetch = createUntrustedFetch({
    send: ({ pathname }) => {
      sent.push(pathname)
      return new Promise((resolve) => answers.push(resolve))
    },
    startDeadline: () => new AbortController().signal,
  })
  const responses = Array.from({ length: 11 }, (_, i) => fetch(`https://agent.example/${i}`))
  await eventually(() => expect(sent).toHaveLength(10))
  answers[0]?.(new Response('first'))
  expect(await (await responses[0])?.text()).toBe('first')
  await eventually(() => expect(sent.at(-1)).toBe('/10'))
  for (const answer of answers.slice(1)) answer(new Response(''))
  await Promise.all(responses)
})

it('does not start a fetch whose deadline has passed', async () => {
  const send = vi.fn(() => new Promise<Response>(() => undefined))
  const fetch = createUntrustedFetch({ send, startDeadline: () => AbortSignal.abort() })
  await expect(fetch('https://agent.example/late')).rejects.toThrow('could not be fetched')
  expect(send).not.toHaveBeenCalled()
})
