import { afterEach, describe, expect, it, vi } from 'vitest'
import { dateText, reader } from '#web/ui/format.ts'

afterEach(() => {
  vi.unstubAllGlobals()
  reader.value = {}
})

describe('a date', () => {
  it.each([
    ['en', 'en-GB', '30 Nov 2025'],
    ['en', 'en-US', 'Nov 30, 2025'],
    ['en-US', 'en-GB', 'Nov 30, 2025'],
    ['de-DE', 'en-US', '30 Nov 2025'],
    [null, 'de', '30 Nov 2025'],
    ['not a locale', 'en-GB', 'Nov 30, 2025'],
  ])('takes the region of the account %s if it has one, else that of the browser %s', (locale, language, shown) => {
    vi.stubGlobal('navigator', { language })
    reader.value = { locale }
    expect(dateText('2025-11-30')).toBe(shown)
  })
})
