/**
 * Returns the key under which failures of a source address are counted. An IPv4 address is its own key. An IPv6 address
 * is counted by its /64, because a single subscriber owns all of it (contract/general.md#rate-limits).
 */
export const addressKey = (ip: string): string => {
  if (!ip.includes(':')) return ip
  const plain = ip.split('%')[0] ?? ip
  if (/^::ffff:\d+\.\d+\.\d+\.\d+$/i.test(plain)) return plain.slice(7)
  const [head = '', tail] = plain.split('::')
  const left = head ? head.split(':') : []
  const right = tail ? tail.split(':') : []
  const middle =
    tail === undefined ? [] : Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => '0')
  return [...left, ...middle, ...right]
    .slice(0, 4)
    .map((group) => Number.parseInt(group || '0', 16).toString(16))
    .join(':')
}
