/**
 * Returns the locale of dates and numbers: the order and symbols of the user's region, in the language of the page. A German
 * reader gets “21 Nov 2026, 14:05”, never “vor 5 Minuten” in an English sentence. The browser's region applies if the account
 * names a language only.
 */
export const localeOf = (language: string, own: string | null | undefined, browser: string): string => {
  try {
    const region = (own ? new Intl.Locale(own).region : undefined) ?? new Intl.Locale(browser).maximize().region
    return region ? new Intl.Locale(language, { region }).toString() : language
  } catch {
    return language
  }
}
