import { lookup as resolve, type LookupAddress } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'

// IPv6 has no public addresses outside of it (RFC 4291 §2.4, IANA's registry of the address space).
const publicIpv6 = new BlockList()
publicIpv6.addSubnet('2000::', 3, 'ipv6')

/**
 * Whether an address is of IPv6 and outside of what is public there. ipaddr.js, which knows what is private, takes
 * addresses that nobody has for public ones, such as `::a00:1`, in which 10.0.0.1 is embedded (RFC 4291 §2.5.5.1).
 */
export function isUnassigned(address: string): boolean {
  return isIP(address) === 6 && !publicIpv6.check(address, 'ipv6')
}

/** Looks names up, and fails for a name of which one address is refused. */
export function checkLookup(
  isRefused: (address: string) => boolean,
  lookup: LookupFunction = resolve,
): LookupFunction {
  return (name, options, done) => {
    lookup(name, options, (error, found, family) => {
      // Without addresses after an error, whatever the types say.
      const refused = error ? undefined : addressesOf(found).find(isRefused)
      if (refused === undefined) done(error, found, family)
      else done(new Error(`the address ${refused} is not allowed`), [])
    })
  }
}

const addressesOf = (found: string | readonly LookupAddress[]) =>
  typeof found === 'string' ? [found] : found.map(({ address }) => address)

/** A list of addresses and CIDR ranges to look addresses up in. */
export function createRanges(texts: readonly string[]): (address: string) => boolean {
  const list = new BlockList()
  const familyOf = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4')
  for (const text of texts) {
    const [address = '', bits] = text.split('/')
    if (bits === undefined) list.addAddress(address, familyOf(address))
    else list.addSubnet(address, Number(bits), familyOf(address))
  }
  return (address) => isIP(address) !== 0 && list.check(address, familyOf(address))
}
