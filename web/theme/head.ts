/**
 * Runs before a page is painted, while its modules are still on their way: shows the chosen colours and density, so that the
 * page doesn't flash, and starts the requests that the modules will make first: for the person, the screen's script and its
 * data. Its own tag says which.
 */
import type { PageRoute } from '../built/files.ts'
import { applyAppearance } from './appearance.ts'

const { dataset } = document.currentScript as HTMLScriptElement
const { session = '', credential, early = '', root = './', assets = '', routes = '{}' } = dataset

// Inside Telegram its colours count.
if (dataset.entry !== 'mini_app') applyAppearance()

const kept = (): { token: string; until: number } | undefined => {
  try {
    return JSON.parse(sessionStorage.getItem(session) ?? 'null') ?? undefined
  } catch {
    return undefined
  }
}

/** Returns what the screen at the current place needs, if there is one. */
const currentRoute = (): PageRoute | undefined => {
  const [place = '/', filters] = (location.hash.slice(1) || '/').split('?')
  const values = place.split('/')
  for (const [pattern, { files, data }] of Object.entries<PageRoute>(JSON.parse(routes))) {
    const parts = pattern.split('/')
    const isHere = parts.length === values.length && parts.every((part, i) => part === values[i] || part[0] === ':')
    const filled = (path: string): string =>
      path.replace(/:\w+/g, (name) => encodeURIComponent(values[parts.indexOf(name)] ?? ''))
    // With filters, the screen asks for other data.
    if (isHere) return { files, data: filters === undefined ? data.map(filled) : [] }
  }
  return undefined
}

const preloaded = new Set<string>()
const preload = (files: readonly string[] = []): void => {
  for (const file of files.filter((one) => !preloaded.has(one))) {
    preloaded.add(file)
    const link = document.createElement('link')
    link.rel = 'modulepreload'
    link.href = assets + file
    document.head.append(link)
  }
}

const base = new URL(root, location.href.replace(/[?#].*$/s, ''))
const { token, until = 0 } = (dataset.entry !== 'mini_app' && kept()) || {}
const headers = { [credential ?? 'authorization']: credential ? (token ?? '') : `Bearer ${token}` }
const ask = (paths: readonly string[] = []): void => {
  if (!token || until < Date.now()) return
  for (const path of paths) {
    const { href } = new URL(path, base)
    const answer = fetch(href, { headers, cache: 'no-store', credentials: 'omit' }).catch(() => undefined)
    window.early = (window.early ?? new Map()).set(href, answer)
  }
}

const route = currentRoute()
ask(early.split(' '))
// Nothing is painted before the scripts are there, and over HTTP/1.1 only six requests are under way.
preload(route?.files)
ask(route?.data)

// Otherwise the browser would find out what a screen's module imports when that has arrived.
const { lang } = document.documentElement
addEventListener('hashchange', () => {
  // The table's files are in the language that the server chose. The page may have changed to another.
  if (document.documentElement.lang === lang) preload(currentRoute()?.files)
})
