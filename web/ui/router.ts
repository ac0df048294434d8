import { computed, signal } from '@preact/signals'

/** Where the person is: the part of the address behind `#`, which no server sees. */
const read = (): string => (location.hash.startsWith('#/') ? location.hash.slice(1) : '/')

export const address = signal(read())

/** The path, and what follows its `?`. */
export const place = computed(() => {
  const [path = '/', query = ''] = address.value.split('?')
  return { path, query: new URLSearchParams(query) }
})

addEventListener('hashchange', () => {
  address.value = read()
})

/** Goes there, and keeps where one was in the history. */
export const go = (to: string): void => {
  location.hash = to
}

/** Goes there in place of where one is. */
export const goInstead = (to: string): void => {
  history.replaceState(null, '', `#${to}`)
  address.value = to
}

/** Does a path fit a pattern such as `/runs/:id`? Its variables, or undefined. */
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
