/**
 * Runs before a page is painted, while its modules are still on their way: shows the chosen colours and density, so that the
 * page doesn't flash, and starts the requests that the modules will make first: for the person, the screen's script and its
 * data. Its own tag says which.
 */
import type { PageRoute } from '../built/files.ts'
import { applyAppearance } from './appearance.ts'
import { partLoader } from './modules.ts'

/** See `pageHtml`, which writes them. */
type Given = Record<'session' | 'early' | 'root' | 'assets' | 'routes' | 'parts', string> &
  Partial<Record<'credential' | 'later' | 'entry', string>>

const { session, credential, early, later, root, assets, routes, parts, entry } = (
  document.currentScript as HTMLScriptElement
).dataset as Given

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
  for (const [pattern, { file, data }] of Object.entries<PageRoute>(JSON.parse(routes))) {
    const steps = pattern.split('/')
    const isHere = steps.length === values.length && steps.every((step, i) => step === values[i] || step[0] === ':')
    const filled = (path: string): string =>
      path.replace(/:\w+/g, (name) => encodeURIComponent(values[steps.indexOf(name)] as string))
    // With filters, the screen asks for other data.
    if (isHere) return { file, data: filters === undefined ? data.map(filled) : [] }
  }
  return { file: '', data: [] }
}

const loader = partLoader(new URL(assets, document.baseURI).href, JSON.parse(parts))
window.loadPart = loader.load
window.loadRest = loader.loadRest

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

const { file, data } = currentRoute()
ask(early.split(' '))
// Nothing is painted before the scripts are there, and over HTTP/1.1 only six requests are under way.
if (file) loader.prefetch(file)
// The page would miss a change made between its data and the counters of changes, so the data is requested second. That costs no
// time, because the scripts take longer to load. If the session is invalid, nothing more is requested: the page would take
// those answers for answers to its next session.
if (later) void Promise.all(asked.values()).then((all) => all.every((one) => one?.ok) && ask([later, ...data]))
else ask(data)

/** Pause before the page asks whether it can be loaded. */
const RETRY_MS = 2_000

/** Loads the page again, once that works. Nothing is shown yet that would be lost. */
const startAgain = (): void => {
  const attempt = async (): Promise<void> => {
    const { ok } = await fetch(location.href, { method: 'HEAD', cache: 'no-store' }).catch(() => ({ ok: false }))
    if (ok) location.reload()
    else startAgain()
  }
  setTimeout(attempt, RETRY_MS)
}
window.startAgain = startAgain
// The script's own file, or one that it imports, couldn't be fetched.
addEventListener('error', ({ target }) => target instanceof HTMLScriptElement && startAgain(), true)
