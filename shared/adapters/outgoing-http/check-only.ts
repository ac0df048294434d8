import type { OutgoingHttp } from '../../kernel/ports/outgoing-http.ts'
import { checkUrl, type TargetPolicy } from './targets.ts'

/** Creates only the address check, for functions that save addresses and call none. */
export const createAddressCheck = (policy: TargetPolicy): OutgoingHttp => ({
  send() {
    throw new Error('this function sends nothing')
  },
  checkAddress(url) {
    const verdict = checkUrl(url, policy)
    return verdict.ok ? undefined : verdict.reason
  },
})
