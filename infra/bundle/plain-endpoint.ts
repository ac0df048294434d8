/**
 * Takes the place of the AWS SDK's endpoint rules in the bundles (20 KB with their interpreter and the table of partitions): the regional
 * address of a service, or the one that is set (`AWS_ENDPOINT_URL`, `AWS_ENDPOINT_URL_<SERVICE>`, a client's `endpoint`).
 */

type Parameters = { Endpoint?: string; Region?: string; UseFIPS?: boolean; UseDualStack?: boolean }

/**
 * @param service The service's name in addresses: `dynamodb`, `events`, …
 * @returns What a client of it asks for its endpoint.
 */
export function plainEndpoint(service: string) {
  const known = new Map<string, { url: URL }>()
  return ({ Endpoint, Region, UseFIPS, UseDualStack }: Parameters): { url: URL } => {
    if (UseFIPS || UseDualStack) throw new Error('FIPS and dual-stack endpoints are not part of the bundles')
    const address = Endpoint ?? `https://${service}.${Region}.${suffix(Region)}`
    const endpoint = known.get(address) ?? { url: new URL(address) }
    known.set(address, endpoint)
    return endpoint
  }
}

const suffix = (region = ''): string => (region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com')

/** The table of partitions, which only the rules look at. */
export const partitionsInfo = { partitions: [] }
export default partitionsInfo
