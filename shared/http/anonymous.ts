import type { Deps } from '#shared/foundation/work/index.ts'
import { ANONYMOUS_RATES, LIMITS } from '../kernel/limits.ts'
import type { Endpoint } from './endpoint.ts'
import { takeRateLimit } from './rate-limit.ts'
import { addressKey } from './source-address.ts'

/**
 * Limits requests without credentials: per source address, then for the whole stage
 * (contract/general.md#anonymous-requests). The stage's bucket is one record, so only requests that their own address
 * still allows may touch it.
 * @throws `rate_limited`
 */
export const limitAnonymous = async (
  deps: Deps,
  { anonymous }: Pick<Endpoint, 'anonymous'>,
  sourceIp: string | undefined,
): Promise<void> => {
  if (!anonymous || !deps.settings.addressRateLimits) return
  const { address, stage } = ANONYMOUS_RATES[anonymous]
  const name = `anonymous:${anonymous}`
  if (sourceIp) {
    await takeRateLimit(deps, { name: `${name}:${addressKey(sourceIp)}`, rate: address, scope: 'address' })
  }
  await takeRateLimit(deps, { name, rate: stage, scope: 'stage' })
}

/**
 * Limits the readings of hosts' documents and keys that one source address causes, because strangers choose what is read.
 * @throws `rate_limited`
 */
export const limitDocuments = async (deps: Deps, sourceIp: string | undefined): Promise<void> => {
  if (!deps.settings.addressRateLimits || sourceIp === undefined) return
  const name = `host-document:${addressKey(sourceIp)}`
  await takeRateLimit(deps, { name, rate: LIMITS.hostDocumentRate, scope: 'address' })
}
