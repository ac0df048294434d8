/** Browsers by a mark of their `User-Agent`, the specific ones first: most call themselves Chrome and Safari as well. */
const BROWSERS: readonly [RegExp, string][] = [
  [/\bTelegram/i, 'Telegram'],
  [/\bEdg(e|A|iOS)?\//, 'Edge'],
  [/\bOPR\/|\bOpera\b/, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\bFirefox\/|\bFxiOS\//, 'Firefox'],
  [/\bChrom(e|ium)\/|\bHeadlessChrome\/|\bCriOS\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
]

const SYSTEMS: readonly [RegExp, string][] = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bMac OS X\b|\bMacintosh\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
]

const named = (names: readonly [RegExp, string][], text: string): string | undefined =>
  names.find(([mark]) => mark.test(text))?.[1]

/**
 * Returns the names of browser and system from a `User-Agent`. Only these are stored: the header itself is free text, and tells
 * more than a person needs to recognize a device.
 */
export const deviceOf = (userAgent = ''): { browser?: string | undefined; system?: string | undefined } => ({
  browser: named(BROWSERS, userAgent),
  system: named(SYSTEMS, userAgent),
})
