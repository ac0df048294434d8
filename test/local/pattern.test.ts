import { describe, expect, test } from 'vitest'
import { compilePattern } from '#local/aws/pattern.ts'
import { readPatternCases } from './pattern-cases.ts'

const cases = readPatternCases()

/** Patterns that Event Ruler accepts and the local run refuses. */
const UNSUPPORTED =
  /"(numeric|equals-ignore-case|wildcard|cidr|\$or)"|"anything-but":\{|\d[,\]}]|\d\.\d|::|\{"prefix":"\\""\}|"a\.b":\["y"\]/

describe('a pattern that Event Ruler refuses is refused', () => {
  const refused = cases.filter((one) => one.refused !== undefined)
  test.each(refused.map((one) => [JSON.stringify(one.pattern), one] as const))('%s', (_name, { pattern }) => {
    expect(() => compilePattern(pattern, 'The pattern of x')).toThrow(
      /^The pattern of x (is not valid|can't be evaluated)/,
    )
  })
})

describe('a pattern that Event Ruler takes matches what it matches there, or is refused as unsupported', () => {
  const taken = cases.filter(({ matches }) => matches)
  test.each(taken.map((one) => [JSON.stringify(one.pattern), one] as const))(
    '%s',
    (name, { pattern, events, matches }) => {
      if (UNSUPPORTED.test(name)) {
        expect(() => compilePattern(pattern)).toThrow(
          /^The event pattern can't be evaluated by the local run: it doesn't support /,
        )
      } else {
        expect(events.map(compilePattern(pattern))).toEqual(matches)
      }
    },
  )
})
