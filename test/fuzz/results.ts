import type { Seen } from './session.ts'

const CLASSES = ['2xx', '3xx', '4xx', '5xx', 'stream']
const HEADER = ['operations', 'requests', ...CLASSES, 'failures', 'seconds']

/**
 * Formats one line per principal, and sums them up. An operation with a credential passed if all its answers were
 * right.
 */
export const formatResults = (lines: readonly Seen[]): { text: string; passed: number; failed: number } => {
  let passed = 0
  let failed = 0
  const rows = lines.map(({ name, tested, cases, answers, failures, errors, seconds }) => {
    const wrong = new Set(failures.flatMap(({ operations }) => operations)).size
    passed += tested - wrong
    failed += wrong + errors.length
    const counts = CLASSES.map((one) => answers[one] ?? 0)
    return row(name, [tested, cases, ...counts, failures.length + errors.length, seconds.toFixed(1)])
  })
  return { text: [row('principal', HEADER), ...rows].join('\n'), passed, failed }
}

const row = (name: string, cells: readonly (string | number)[]): string =>
  name.padEnd(15) + cells.map((cell) => String(cell).padStart(11)).join('')
