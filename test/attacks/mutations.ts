import { PREFIXES } from '#shared/kernel/ids.ts'

const encoded = (text: string): string => encodeURIComponent(text)

/**
 * Returns altered forms of an id, as they appear in a path. None of them is a valid id.
 * @param every returns all forms instead of a few
 */
export const mutations = (id: string, every: boolean): string[] => (every ? [...few(id), ...more(id)] : few(id))

const few = (id: string): string[] => [
  id.toUpperCase(),
  id.slice(0, -1),
  `${id}0`,
  `..%2f${id}`,
  `${id}%00`,
  encoded(`${id}\u200d`),
  '__proto__',
  `${id}`.repeat(40),
]

const more = (id: string): string[] => {
  const [prefix = '', ulid = ''] = id.split('_')
  const other = Object.values(PREFIXES).filter((one) => one !== prefix)
  return [
    ...other.map((one) => `${one}_${ulid}`),
    `${prefix}_${ulid.toUpperCase()}`,
    ulid || 'nothing',
    `${prefix}_`,
    `_${ulid}`,
    `${prefix}__${ulid}`,
    `${prefix}-${ulid}`,
    // Letters that ULIDs don't use, and a time beyond the largest one.
    `${prefix}_${ulid.slice(0, -1)}u`,
    `${prefix}_${ulid.slice(0, -1)}i`,
    `${prefix}_8${ulid.slice(1)}`,
    // Looks the same: Cyrillic letters, full-width digits, a zero-width joiner, a combining mark.
    encoded(
      id
        .replace('r', 'г')
        .replace('a', 'а')
        .replace('e', 'е')
        .concat('а')
        .slice(0, id.length + 1),
    ),
    encoded(`${prefix}_${ulid.replaceAll(/\d/g, (digit) => String.fromCharCode(digit.charCodeAt(0) + 0xfee0))}`),
    encoded(`${id}\u0301`),
    encoded(`\ufeff${id}`),
    encoded(` ${id}`),
    encoded(`${id} `),
    `${id}+`,
    encoded(`${id}\n`),
    encoded(`${id}\r\nX-Admin-Key: local-admin-key`),
    `%00${id}`,
    `..%2f..%2f..%2fetc%2fpasswd`,
    `..%5c${id}`,
    `${id}%2f..%2f${id}`,
    `${id}%23`,
    `${id}%3f`,
    `${id};a=b`,
    `${id},${id}`,
    `${id}%252e`,
    `%25${id}`,
    `%`,
    `%zz${id}`,
    `%ff${id}`,
    `%c0%ae${id}`,
    'constructor',
    'null',
    'undefined',
    '0',
    '-1',
    '*',
    encoded(`${prefix}_' OR '1'='1`),
    encoded(`{"$ne":null}`),
    encoded(`${id}#RUN#`),
    `${prefix}_${'0'.repeat(5_000)}`,
  ]
}
