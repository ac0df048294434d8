/**
 * The key under which failures from a source address are counted: an IPv4 address as it is, an IPv6 one by its /64,
 * because a single subscriber has all of that (decisions §1).
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
