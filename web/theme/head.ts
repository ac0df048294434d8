/**
 * Runs before a page is painted, while its modules are still on their way: shows the chosen colours and density, so that the
 * page doesn't flash, and starts the requests that the modules will make first. Its own tag says which.
 */
import { applyAppearance } from './appearance.ts'

const { dataset } = document.currentScript as HTMLScriptElement
const { session = '', credential, early = '', root = './', assets = '', start = '' } = dataset

// Inside Telegram its colours count.
if (dataset.entry !== 'mini_app') applyAppearance()

const kept = (): { token: string; until: number } | undefined => {
  try {
    return JSON.parse(sessionStorage.getItem(session) ?? 'null') ?? undefined
  } catch {
    return undefined
  }
}

const base = new URL(root, location.href.replace(/[?#].*$/s, ''))
const { token, until = 0 } = (dataset.entry !== 'mini_app' && kept()) || {}
if (token && until > Date.now()) {
  const headers = { [credential ?? 'authorization']: credential ? token : `Bearer ${token}` }
  window.early = new Map(
    early.split(' ').map((path) => {
      const { href } = new URL(path, base)
      return [href, fetch(href, { headers, cache: 'no-store', credentials: 'omit' }).catch(() => undefined)]
    }),
  )
}
if (/^(#\/?)?$/.test(location.hash)) {
  for (const file of start.split(' ')) {
    const link = document.createElement('link')
    link.rel = 'modulepreload'
    link.href = assets + file
    document.head.append(link)
  }
}
