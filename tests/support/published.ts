import { once } from 'node:events'
import type { UntrustedFetchOptions } from '../../src/platform/untrusted-fetch.ts'
import { endOnFailure } from './fetch-deadlines.ts'
import type { TestAgent } from './oauth-client.ts'

/** What an answer at a URL is: an object is a document, a number the status of a refusal. */
export type Answer = object | number | (() => Promise<Response> | Response)

/** The documents that agents publish on the Internet of a test, which is in its memory. */
export interface Published {
  /** What the service fetches by. */
  untrustedFetch: UntrustedFetchOptions
  /** The URLs that were fetched, in order. */
  fetched: string[]
  answerWith: (url: string, answer: Answer) => void
  /** Publishes the document of a new agent, at a host of its own or at a URL. */
  publish: (document?: object, url?: string) => TestAgent
}

export const publishedRedirectUri = 'http://127.0.0.1:33418/callback'

/** Creates an Internet without a document. Answers that are functions have 20 ms; what is published cannot come too late. */
export function createPublished(): Published {
  const answers = new Map<string, Answer>()
  const fetched: string[] = []
  let count = 0
  return {
    fetched,
    untrustedFetch: endOnFailure(async ({ href }, { signal, end }) => {
      fetched.push(href)
      const answer = answers.get(href) ?? 404
      if (typeof answer === 'number') return new Response('', { status: answer })
      if (typeof answer !== 'function') return Response.json(answer)
      setTimeout(end, 20)
      return Promise.race([
        (answer as () => Promise<Response> | Response)(),
        once(signal, 'abort').then((): Promise<Response> => Promise.reject(new Error('aborted'))),
      ])
    }),
    answerWith: (url, answer) => answers.set(url, answer),
    publish(document = {}, url = `https://host${++count}.example/client.json`) {
      const published = {
        client_id: url,
        client_name: 'Documented agent',
        redirect_uris: [publishedRedirectUri],
        ...document,
      }
      answers.set(url, published)
      return {
        clientId: url,
        redirectUri: published.redirect_uris[0] ?? publishedRedirectUri,
        verifier: 'a-verifier-that-is-long-enough-for-the-standard-1234',
      }
    },
  }
}
