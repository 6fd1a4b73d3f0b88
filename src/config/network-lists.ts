import { isIP } from 'node:net'

/** Whether a text is a list of proxies. A number of hops is refused: any client can forge that many addresses. */
export function isProxyList(text: string): boolean {
  return text === 'false' || text.split(',').every((part) => isProxy(part.trim()))
}

function isProxy(text: string): boolean {
  return ['loopback', 'linklocal', 'uniquelocal'].includes(text) || isRange(text)
}

/** Whether a text is the URL of a proxy for requests to the Internet. */
export function isProxyUrl(text: string): boolean {
  const url = URL.parse(text)
  return (
    url !== null && /^https?:$/.test(url.protocol) && url.pathname === '/' && url.search + url.hash === ''
  )
}

/** Whether a text is a list of host names, addresses and ranges of addresses. */
export function isHostList(text: string): boolean {
  return text.split(',').every((part) => isHost(part.trim()))
}

function isHost(text: string): boolean {
  return isRange(text) || /^(?=.*[a-z])[a-z0-9-]+([.][a-z0-9-]+)*$/.test(text)
}

/** Whether a text is an address or a CIDR range. */
function isRange(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/')
  const bits = isIP(address) === 4 ? 32 : 128
  const isPrefix = prefix === undefined || (/^[1-9][0-9]{0,2}$/.test(prefix) && Number(prefix) <= bits)
  return isIP(address) !== 0 && isPrefix && rest.length === 0
}
