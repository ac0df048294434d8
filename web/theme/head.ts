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

const [place = '/', filters] = (location.hash.slice(1) || '/').split('?')

/** Returns what a route needs at the current place, if it is there. */
const routeAt = ([pattern, { files, data }]: [string, PageRoute]): PageRoute[] => {
  const [parts, values] = [pattern.split('/'), place.split('/')]
  const fits = parts.length === values.length && parts.every((part, i) => part === values[i] || part[0] === ':')
  const filled = (path: string): string =>
    path.replace(/:\w+/g, (name) => encodeURIComponent(values[parts.indexOf(name)] ?? ''))
  // With filters, the screen asks for other data.
  return fits ? [{ files, data: filters === undefined ? data.map(filled) : [] }] : []
}
const route = Object.entries<PageRoute>(JSON.parse(routes)).flatMap(routeAt)[0]

const base = new URL(root, location.href.replace(/[?#].*$/s, ''))
const { token, until = 0 } = (dataset.entry !== 'mini_app' && kept()) || {}
if (token && until > Date.now()) {
  const headers = { [credential ?? 'authorization']: credential ? token : `Bearer ${token}` }
  window.early = new Map(
    [...early.split(' '), ...(route?.data ?? [])].map((path) => {
      const { href } = new URL(path, base)
      return [href, fetch(href, { headers, cache: 'no-store', credentials: 'omit' }).catch(() => undefined)]
    }),
  )
}
for (const file of route?.files ?? []) {
  const link = document.createElement('link')
  link.rel = 'modulepreload'
  link.href = assets + file
  document.head.append(link)
}
