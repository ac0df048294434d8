import { describe, expect, it } from 'vitest'
import { localeOf } from '#web/ui/locale-of.ts'

describe('dates and numbers', () => {
  it.each([
    ['en', 'en-GB', 'en-GB'],
    ['en', 'en-US', 'en-US'],
    ['en-US', 'en-GB', 'en-US'],
    ['de-DE', 'en-US', 'en-DE'],
    [null, 'de', 'en-DE'],
    ['', 'en', 'en-US'],
    ['not a locale', 'en-GB', 'en'],
  ])('take the region of the account %j if it has one, else that of the browser %s', (own, browser, locale) => {
    expect(localeOf('en', own, browser)).toBe(locale)
  })
})
