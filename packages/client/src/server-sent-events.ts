/** What a stream says at once: an event, or only how far it is. */
export interface ServerSentEvent {
  data: string | undefined
  /** The cursor behind it. */
  id: string | undefined
  /** How long to wait before connecting again, in milliseconds. */
  retryMs: number | undefined
}

/**
 * Reads server-sent events (WHATWG HTML §9.2) in lots, as they arrive. An `id` without `data`, which the service sends
 * with its comments, is one too: a usual parser would leave it out.
 */
export async function* readServerSentEvents(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<ServerSentEvent[], void> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of chunks) {
    text = (text + decoder.decode(chunk, { stream: true })).replace(/\r\n/g, '\n')
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    yield blocks.map(readBlock)
  }
}

function readBlock(block: string): ServerSentEvent {
  const fields = block.split('\n').map((line) => /^(data|id|retry):? ?(.*)$/.exec(line)?.slice(1) ?? [])
  const valuesOf = (name: string) => fields.flatMap(([field, value = '']) => (field === name ? [value] : []))
  const data = valuesOf('data')
  const retry = valuesOf('retry').at(-1)
  return {
    data: data.length > 0 ? data.join('\n') : undefined,
    id: valuesOf('id').at(-1),
    retryMs: retry !== undefined && /^\d+$/.test(retry) ? Number(retry) : undefined,
  }
}
