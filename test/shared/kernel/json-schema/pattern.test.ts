import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { analyzePattern } from '#shared/kernel/json-schema/pattern.ts'
import { cpuMs } from '#testkit/cpu.ts'

/** Matches. Throws if that takes far longer than any accepted pattern on a busy machine. */
const match = (pattern: string, text: string): void => {
  runInNewContext('new RegExp(pattern, "u").test(text)', { pattern, text }, { timeout: 20_000 })
}

describe('judgePattern', () => {
  it.each([
    '^[a-z]+$',
    '^[a-z0-9]+(?:-[a-z0-9]+)*$',
    '^(?:https?://)?[\\w.-]+(?:/[\\w./-]*)?$',
    '^(\\d{1,3}\\.){3}\\d{1,3}$',
    '^(GET|POST|PUT)$',
    '^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
    '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(?:\\.\\d+)?(?:Z|[+-]\\d{2}:\\d{2})$',
    '^[^@]+@[^@]+\\.[^@]+$',
    '^\\S+@\\S+\\.\\S+$',
    '^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\\.)+[a-z]+$',
    '^sk-[A-Za-z0-9_-]{20,200}$',
    '^((25[0-5]|2[0-4]\\d|1?\\d?\\d)\\.){3}(25[0-5]|2[0-4]\\d|1?\\d?\\d)$',
    '^[\\u{1F600}-\\u{1F64F}\\uD83D\\uDE00]+$',
    '^(?<year>\\d{4})-\\p{L}+$',
    '^(foo|bar)+$',
    '^("[^"]*"|[^",]*)(,("[^"]*"|[^",]*))*$',
    '^\\w+(\\s+\\w+)*$',
    'bar$',
    '(?=a)b',
    '^(?!\\.{1,2}$)[^/]{1,255}$',
    "^(?!\\.)(?!.*\\.\\.)([A-Za-z0-9_'+\\-\\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$",
    '\\s+$',
    '.*',
    '(.*)'.repeat(30),
    '',
    z.regexes.hostname.source,
    z.regexes.email.source,
    z.regexes.rfc5322Email.source,
    // ByteSize of Pydantic.
    '^\\s*(\\d*\\.?\\d+)\\s*(\\w+)?',
    '^[\\w-\\.]+@([\\w-]+\\.)+[\\w-]{2,4}$',
  ])('accepts %s', (pattern) => {
    expect(analyzePattern(pattern)).toHaveProperty('longest')
  })

  it.each([
    ['(a+)+$'],
    ['(a|a)*$'],
    ['^(a|aa)+$'],
    ['(x+x+)+y'],
    ['((a*)*)*$'],
    ['^(\\w+\\s?)*$'],
    ['(?:[a-z]+-?)*[a-z]+$'],
    ['([a-z]{1,50}){1,50}$'],
    ['a*a*a*a*b'],
    ['^(?=(a+)+$)a'],
    ['^a*a*(?=a*a*b)a'],
    ['^(?!(?=(a|aa)+$)b)a'],
    ['^(a?){30}a{30}$'],
    [`^${'(a?)'.repeat(30)}${'a'.repeat(30)}$`],
    [`^${'(a|a)'.repeat(25)}$`],
    [`^${'a{0,100}'.repeat(20)}$`],
    ['(.*)*'],
    [`^${'(.*)'.repeat(30)}b`],
    ['^(|){30}b'],
    ['((?=a*a*a*b)){2}'],
    ['^a*(?=a*a*a*a*b)-'],
    [`(${'a*'.repeat(9)}){0,61}$`],
    ['^(\\p{L}|\\p{Lu})*$'],
    ['^(?:[^,]*,?)*$'],
    ['^([a\\u0101]|[b\\u{101}])*$'],
    ['^(\\uD83D\\uDE00|[\\u{1F600}-\\u{1F64F}])*$'],
  ])('refuses %s, which backtracks without bound', (pattern) => {
    expect(analyzePattern(pattern)).toHaveProperty('refused')
  })

  it.each([
    ['(?<!a)b', 'look-behind'],
    ['(?<=a)b', 'look-behind'],
    ['(a)\\1', 'back-references'],
    ['(?<n>a)\\k<n>', 'back-references'],
    ['(?i:a)', 'inline flags'],
    ['(', 'not an ECMA-262 regular expression'],
    ['^(foo|far)+$', 'begin its alternatives with different characters'],
    ['a'.repeat(1_001), 'longer than'],
    ['('.repeat(60) + ')'.repeat(60), 'nested'],
  ])('refuses %s and says why', (pattern, reason) => {
    expect(analyzePattern(pattern)).toEqual({ refused: expect.stringContaining(reason) })
  })

  it('passes no pattern that is slow on a text of the returned length', () => {
    const piece = fc.constantFrom(
      'a',
      'b',
      '[ab]',
      '[^a]',
      '\\w',
      '.',
      'ab',
      '(a|b)',
      '(?:ab?)',
      '(a|ab)',
      '\\d',
      '-',
      '(?=a*b)',
      '(?!.*ab)',
      ',',
      '[^,]',
      '[^-]+-',
      '(,a*)*',
      '((?=a*a*b)){2}',
    )
    const repeat = fc.constantFrom('', '', '', '*', '+', '?', '{2}', '{1,3}', '{0,9}', '*?')
    const sequence = fc
      .array(
        fc.tuple(piece, repeat).map((parts) => parts.join('')),
        { minLength: 1, maxLength: 6 },
      )
      .map((parts) => parts.join(''))
    const pattern = fc
      .tuple(fc.constantFrom('', '^'), fc.array(fc.tuple(sequence, repeat), { minLength: 1, maxLength: 3 }))
      .map(([start, groups]) => `${start}${groups.map(([body, times]) => `(${body})${times}`).join('')}$`)
    let accepted = 0
    fc.assert(
      fc.property(pattern, fc.constantFrom('a', 'b', 'ab', 'aab', '1', 'a-', ',a', ','), (text, pump) => {
        const verdict = analyzePattern(text)
        if ('refused' in verdict) return
        accepted += 1
        const attack = pump.repeat(Math.floor(verdict.longest / pump.length)).slice(0, verdict.longest - 1)
        match(text, `${attack}!`)
      }),
      { numRuns: 1_000, seed: 7 },
    )
    expect(accepted).toBeGreaterThan(50)
  })

  it.each([
    ['^a]b}c{$', 'a]b}c{'],
    ['^[\\w-.]+$', 'a-.b'],
    ['^[.-\\w]+$', 'a-.b'],
    ['^\\-\\"\\ \\@$', '-" @'],
    ['^[\\"\\@\\-]{2,}$', '"@-'],
    ['^a{,2}$', 'a{,2}'],
  ])('reads %s, which is a pattern only without the flag u, as it is meant', (pattern, text) => {
    const verdict = analyzePattern(pattern)
    if ('refused' in verdict) throw new Error(verdict.refused)
    for (const one of [text, `${text}~`, '', 'aa', '-', ',']) {
      expect(verdict.matcher.test(one), one).toBe(new RegExp(pattern).test(one))
    }
  })

  it('answers quickly for any text', async () => {
    const hostile = [
      '[^]*'.repeat(100),
      '(\\w|\\d|\\s|.)*'.repeat(28),
      '|'.repeat(400),
      'a{0,99}'.repeat(57),
      '(a?|b?)'.repeat(57),
    ]
    for (const pattern of hostile) {
      expect(await cpuMs(() => analyzePattern(pattern))).toBeLessThan(1_000)
    }
    fc.assert(fc.property(fc.string({ maxLength: 60, unit: 'binary' }), (text) => void analyzePattern(text)))
    const syntax = fc.string({ unit: fc.constantFrom(...'ab01()[]{}|*+?.^$\\-,:<>=!pudwsk'.split('')), maxLength: 30 })
    fc.assert(
      fc.property(syntax, (text) => void analyzePattern(text)),
      { numRuns: 2_000 },
    )
  })
})
