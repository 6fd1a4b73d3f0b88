import { lookup as resolve, type LookupAddress } from 'node:dns'
import type { RequestOptions } from 'node:https'
import { isUnassigned } from './public-addresses.ts'

export interface ProxyOptions {
  proxy: URL
  signal: AbortSignal
  lookup: RequestOptions['lookup']
}

/**
 * Connects a request over https through a proxy (CONNECT). The name is resolved on this machine, and the proxy is asked
 * for the address, so that it cannot be led to another one. Throws if the name cannot be resolved here, or if one of its
 * addresses is not public.
 */
export async function connectThroughProxy(
  { hostname }: URL,
  { proxy, signal, lookup = resolve }: ProxyOptions,
): Promise<Pick<RequestOptions, 'agent' | 'hostname' | 'servername'>> {
  const addresses = await new Promise<LookupAddress[]>((done, fail) => {
    signal.addEventListener('abort', () => fail(signal.reason as Error), { once: true })
    lookup(hostname, { all: true }, (error, found) => {
      if (error)
        fail(new Error(`the name cannot be resolved on this machine (${error.code ?? error.message})`))
      else done(found as LookupAddress[])
    })
  })
  const { default: ipaddr } = await import('ipaddr.js')
  // As for connections without a proxy: one wrong address refuses the name.
  for (const { address } of addresses)
    if (ipaddr.parse(address).range() !== 'unicast' || isUnassigned(address))
      throw new Error(`the address ${address} is not allowed`)
  const [first] = addresses
  if (!first) throw new Error('the name has no address')
  const { HttpsProxyAgent } = await import('https-proxy-agent')
  // The signal ends the connection to the proxy too.
  const agent = new HttpsProxyAgent(proxy, { keepAlive: false, signal })
  return { agent, hostname: first.address, servername: hostname }
}
