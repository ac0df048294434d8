import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalJson } from '#shared/kernel/canonical-json.ts'

const reordered = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(reordered)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, member]) => [key, reordered(member)] as const)
      .reverse(),
  )
}

describe('canonicalJson', () => {
  it('returns the text of RFC 8785 §3.2.2 for its sample', () => {
    const sample = JSON.parse(
      String.raw`{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],"string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}`,
    )
    expect(canonicalJson(sample)).toBe(
      String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
    )
  })

  it('orders keys by UTF-16 code units, as RFC 8785 §3.2.3 does', () => {
    const keys = ['\u20ac', '\r', '\ufb33', '1', '\u{1f600}', '\u0080', '\u00f6']
    const text = canonicalJson(Object.fromEntries(keys.map((key) => [key, 0])))
    expect(Object.keys(JSON.parse(text)).filter((key) => key !== '1')).toEqual([
      '\r',
      '\u0080',
      '\u00f6',
      '\u20ac',
      '\u{1f600}',
      '\ufb33',
    ])
    expect(text.indexOf('"1"')).toBeLessThan(text.indexOf('"\u0080"'))
  })

  it.each([
    [0, '0'],
    [-0, '0'],
    [5e-324, '5e-324'],
    [1.7976931348623157e308, '1.7976931348623157e+308'],
    [9007199254740992, '9007199254740992'],
    [295147905179352830000, '295147905179352830000'],
    [1e23, '1e+23'],
    [9.999999999999997e22, '9.999999999999997e+22'],
    [333333333.3333332, '333333333.3333332'],
  ])('writes the number %s of RFC 8785 appendix B as %s', (number, text) => {
    expect(canonicalJson(number)).toBe(text)
  })

  it('returns equal text for equal values in any order, and text that parses back to the value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
        const parsed = JSON.parse(JSON.stringify(value))
        expect(canonicalJson(reordered(parsed))).toBe(canonicalJson(parsed))
        expect(JSON.parse(canonicalJson(parsed))).toEqual(parsed)
      }),
    )
  })

  it('distinguishes values that differ only in type', () => {
    const texts = [1, '1', [1], { 1: 1 }, null, 'null', true, 'true', {}, []].map((value) => canonicalJson(value))
    expect(new Set(texts).size).toBe(texts.length)
  })

  it('refuses half of a surrogate pair as the client’s mistake', () => {
    expect(() => canonicalJson(JSON.parse(String.raw`{"a":"\ud800"}`))).toThrow(
      expect.objectContaining({ code: 'validation_error', status: 422 }),
    )
  })

  it('handles a value nested 100,000 deep', () => {
    const deep = '['.repeat(100_000) + ']'.repeat(100_000)
    expect(canonicalJson(JSON.parse(deep))).toBe(deep)
  })
})
