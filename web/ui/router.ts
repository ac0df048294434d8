import { computed, signal } from '@preact/signals'

/** Reads the address behind `#`, which is never sent to a server. */
const read = (): string => (location.hash.startsWith('#/') ? location.hash.slice(1) : '/')

export const address = signal(read())

/** Current path and query. */
export const place = computed(() => {
  const [path = '/', query = ''] = address.value.split('?')
  return { path, query: new URLSearchParams(query) }
})

/** Scroll positions of the history's entries, by the id in their state. */
const positions = new Map<string, number>()

/** Returns the id of the current history entry. A new entry gets one. */
const entry = (): string => {
  const known = history.state?.entry as string | undefined
  if (known !== undefined) return known
  const made = crypto.randomUUID()
  history.replaceState({ entry: made }, '')
  return made
}

let current = entry()

// The browser would scroll before the screen is there.
history.scrollRestoration = 'manual'
addEventListener('scroll', () => positions.set(current, scrollY), { passive: true })
addEventListener('hashchange', () => {
  current = entry()
  address.value = read()
})

/** Time for a screen's content to arrive. */
const RESTORE_MS = 3_000
const BY_HAND = ['wheel', 'touchmove', 'keydown', 'pointerdown'] as const

/**
 * Scrolls a screen to the place where the user left it, once it is tall enough, and a new one to its top. Ends as soon as the
 * user scrolls.
 * @returns a function that ends it
 */
export const restoreScroll = (): (() => void) => {
  const wanted = positions.get(current) ?? 0
  scrollTo(0, wanted)
  const grown = new ResizeObserver(() => {
    scrollTo(0, wanted)
    if (scrollY >= Math.floor(wanted)) end()
  })
  const end = (): void => {
    clearTimeout(timer)
    grown.disconnect()
    for (const event of BY_HAND) removeEventListener(event, end)
  }
  const timer = setTimeout(end, RESTORE_MS)
  if (scrollY >= Math.floor(wanted)) end()
  else {
    grown.observe(document.body)
    for (const event of BY_HAND) addEventListener(event, end, { passive: true })
  }
  return end
}

/** Navigates to an address and adds it to the history. */
export const navigate = (to: string): void => {
  location.hash = to
}

/** Navigates to an address and replaces the current history entry. */
export const redirect = (to: string): void => {
  history.replaceState(history.state, '', `#${to}`)
  address.value = to
}

/** Matches a path against a pattern such as `/runs/:id`. Returns its variables, or undefined. */
export const match = (pattern: string, path: string): Record<string, string> | undefined => {
  const [wanted, given] = [pattern.split('/'), path.split('/')]
  if (wanted.length !== given.length) return undefined
  const found: Record<string, string> = {}
  for (const [i, part] of wanted.entries()) {
    if (part.startsWith(':')) found[part.slice(1)] = decodeURIComponent(given[i] ?? '')
    else if (part !== given[i]) return undefined
  }
  return found
}
