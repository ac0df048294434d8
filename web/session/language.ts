import { directionOf } from '../built/direction.ts'
import { language } from '../ui/messages.ts'

const KEY = 'language'

/** Paths of the page's script, by language. */
const scripts = new Map(
  (document.body.dataset.languages ?? '').split(' ').map((one) => one.split('=') as [string, string]),
)

const kept = (): string | null => {
  try {
    return localStorage.getItem(KEY)
  } catch {
    return null
  }
}

/**
 * Loads the page's script in the language of the person who used this browser last, if the server chose another.
 *
 * @returns true if that script starts the page
 */
export const startInKeptLanguage = (): boolean => {
  const script = scripts.get(kept() ?? '')
  if (script && kept() !== language) {
    import(/* @vite-ignore */ new URL(script, document.baseURI).href).catch(() => window.startAgain?.())
    return true
  }
  document.documentElement.lang = language
  document.documentElement.dir = directionOf(language)
  return false
}

/**
 * Keeps a person's language for this browser. Pages without their language are in English.
 *
 * @returns true if the page is in another and can be reloaded in theirs
 */
export const keepLanguage = (locale: string): boolean => {
  if (scripts.size < 2) return false
  const [own = ''] = locale.split('-')
  const wanted = scripts.has(locale) ? locale : scripts.has(own) ? own : 'en'
  try {
    localStorage.setItem(KEY, wanted)
  } catch {
    // Without storage, a reload would change nothing.
  }
  return wanted !== language && kept() === wanted
}
