import { computed, signal } from '@preact/signals'

/** Reads the address behind `#`, which is never sent to a server. */
const read = (): string => (location.hash.startsWith('#/') ? location.hash.slice(1) : '/')

export const address = signal(read())

/** Current path and query. */
export const place = computed(() => {
  const [path = '/', query = ''] = address.value.split('?')
  return { path, query: new URLSearchParams(query) }
})

addEventListener('hashchange', () => {
  address.value = read()
})

/** Navigates to an address and adds it to the history. */
export const navigate = (to: string): void => {
  location.hash = to
}

/** Navigates to an address and replaces the current history entry. */
export const redirect = (to: string): void => {
  history.replaceState(null, '', `#${to}`)
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
