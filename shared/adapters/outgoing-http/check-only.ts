import type { OutgoingHttp } from '../../domain/ports.ts'
import { checkUrl, type TargetPolicy } from './targets.ts'

/** The check of addresses without the client, for functions that save addresses and call none. */
export const createAddressCheck = (policy: TargetPolicy): OutgoingHttp => ({
  send() {
    throw new Error('this function sends nothing')
  },
  checkAddress(url) {
    const verdict = checkUrl(url, policy)
    return verdict.ok ? undefined : verdict.reason
  },
})
