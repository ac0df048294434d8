/**
 * Returns the keys in `_meta` or `metadata` that claim to be the platform's and aren't among those it knows: `aip/` in any case,
 * and `aip.`, `aip:`, `aip_` or `aip-` without a slash. A misspelled key must not be ignored, because without it a call could do
 * more than its caller wanted. Keys of others, such as `aipcorp.com/…`, aren't ours to judge.
 */
export const unknownOwnKeys = (meta: unknown, known: readonly string[]): string[] =>
  typeof meta === 'object' && meta !== null
    ? Object.keys(meta).filter(
        (key) => !known.includes(key) && (/^aip\//i.test(key) || (/^aip[.:_-]/i.test(key) && !key.includes('/'))),
      )
    : []
