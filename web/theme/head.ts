/**
 * Runs before a page is painted, while its modules are still on their way: shows the chosen colours and density, so that the
 * page doesn't flash, and starts the requests that the modules will make first: for the person, the screen's script and its
 * data. Its own tag says which.
 */
import type { PageRoute } from '../built/files.ts'
import { applyAppearance } from './appearance.ts'

/** See `pageHtml`, which writes them. */
type Given = Record<'session' | 'early' | 'root' | 'assets' | 'routes', string> &
  Partial<Record<'credential' | 'later' | 'entry', string>>

const { session, credential, early, later, root, assets, routes, entry } = (document.currentScript as HTMLScriptElement)
  .dataset as Given

// Inside Telegram its colours count.
if (entry !== 'mini_app') applyAppearance()

let kept: { token: string; until: number } | null = null
try {
  kept = JSON.parse(sessionStorage.getItem(session) ?? 'null')
} catch {
  // No storage, or no session in it: the page asks for a sign-in.
}

/** Returns what the screen at the current place needs. */
const currentRoute = (): PageRoute => {
  const [place, filters] = (location.hash.slice(1) || '/').split('?') as [string, string?]
  const values = place.split('/')
  for (const [pattern, { files, data }] of Object.entries<PageRoute>(JSON.parse(routes))) {
    const parts = pattern.split('/')
    const isHere = parts.length === values.length && parts.every((part, i) => part === values[i] || part[0] === ':')
    const filled = (path: string): string =>
      path.replace(/:\w+/g, (name) => encodeURIComponent(values[parts.indexOf(name)] as string))
    // With filters, the screen asks for other data.
    if (isHere) return { files, data: filters === undefined ? data.map(filled) : [] }
  }
  return { files: [], data: [] }
}

const preloaded = new Set<string>()
const preload = (files: readonly string[]): void => {
  for (const file of files.filter((one) => !preloaded.has(one))) {
    preloaded.add(file)
    const link = document.createElement('link')
    link.rel = 'modulepreload'
    link.href = assets + file
    document.head.append(link)
  }
}

const base = new URL(root, location.href)
const { token, until = 0 } = (entry !== 'mini_app' && kept) || {}
const headers = { [credential ?? 'authorization']: (credential ? '' : 'Bearer ') + token }
const asked = new Map<string, Promise<Response | undefined>>()
window.early = asked
const ask = (paths: readonly string[]): void => {
  if (!token || until < Date.now()) return
  for (const path of paths) {
    const { href } = new URL(path, base)
    asked.set(
      href,
      fetch(href, { headers, cache: 'no-store', credentials: 'omit' }).catch(() => undefined),
    )
  }
}

const { files, data } = currentRoute()
ask(early.split(' '))
// Nothing is painted before the scripts are there, and over HTTP/1.1 only six requests are under way.
preload(files)
// The page would miss a change made between its data and the counters of changes, so the data is requested second. That costs no
// time, because the scripts take longer to load. If the session is invalid, nothing more is requested: the page would take
// those answers for answers to its next session.
if (later) void Promise.all(asked.values()).then((all) => all.every((one) => one?.ok) && ask([later, ...data]))
else ask(data)

// Otherwise the browser would find out what a screen's module imports when that has arrived.
const { lang } = document.documentElement
addEventListener('hashchange', () => {
  // The table's files are in the language that the server chose. The page may have changed to another.
  if (document.documentElement.lang === lang) preload(currentRoute().files)
})
