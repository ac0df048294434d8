import MiniSearch, { type SearchResult } from 'minisearch'
import { announce, element } from './dom.ts'
import { type FoundPart, isStopWord, SEARCH_OPTIONS } from './search-options.ts'

const SHOWN = 12

type Found = SearchResult & FoundPart

/** Marks the words of a query in a text. */
const marked = (text: string, words: readonly string[]): (string | Node)[] => {
  const escaped = words.filter((word) => word.length > 1).map((word) => word.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&'))
  if (escaped.length === 0) return [text]
  return text
    .split(new RegExp(`(${escaped.join('|')})`, 'giu'))
    .map((part, at) => (at % 2 === 1 ? element('mark', {}, part) : part))
}

const resultOf = (root: string, { id, page, title, lead }: Found, words: readonly string[]): HTMLLIElement => {
  const link = element(
    'a',
    { href: root + id },
    element('strong', {}, ...marked(title, words)),
    element('span', { class: 'page' }, page),
    element('span', { class: 'lead' }, ...marked(lead, words)),
  )
  return element('li', {}, link)
}

/** Loads the index at the first search, and again if that failed. */
const createIndex = (root: string) => {
  let loading: Promise<MiniSearch> | undefined
  return (): Promise<MiniSearch> => {
    loading ??= fetch(`${root}docs/search.json`)
      .then(async (response) => {
        if (!response.ok) throw new Error(`status ${response.status}`)
        return MiniSearch.loadJSON(await response.text(), SEARCH_OPTIONS)
      })
      .catch((error: unknown) => {
        loading = undefined
        throw error
      })
    return loading
  }
}

/** Adds the search of all guides and references. It opens with a button, and Ctrl-K or ⌘K. */
export const addSearch = (root: string): void => {
  const load = createIndex(root)
  const input = element('input', {
    type: 'search',
    'aria-label': 'Search the documentation',
    placeholder: 'Search guides, operations, events and error codes',
    autocomplete: 'off',
    spellcheck: 'false',
  })
  const results = element('ul', { class: 'results' })
  const state = element('p', { class: 'quiet' })
  const close = element('button', { type: 'button', class: 'button' }, 'Close')
  const dialog = element(
    'dialog',
    { class: 'search', 'aria-label': 'Search' },
    element('div', { class: 'field' }, input, close),
    state,
    results,
  )
  const tell = (text: string) => {
    state.textContent = text
    announce(text)
  }

  const search = async () => {
    const query = input.value.trim()
    if (query === '') {
      results.replaceChildren()
      return tell('')
    }
    const found = await load().then(
      (index) => {
        const all = index.search(query)
        // Of a long question, some words are nowhere.
        return (all.length > 0 ? all : index.search(query, { combineWith: 'OR' })) as Found[]
      },
      () => undefined,
    )
    if (query !== input.value.trim()) return
    if (found === undefined) return tell('The search couldn’t be loaded. Check your connection and try again.')
    const shown = found.slice(0, SHOWN)
    results.replaceChildren(
      ...shown.map((one) =>
        resultOf(root, one, [...query.split(/[\s?!,]+/).filter((word) => !isStopWord(word)), ...one.terms]),
      ),
    )
    tell(
      found.length === 0
        ? `Nothing found for “${query}”. Try fewer or other words.`
        : found.length > SHOWN
          ? `The best ${SHOWN} of ${found.length} results.`
          : `${found.length} ${found.length === 1 ? 'result' : 'results'}.`,
    )
  }

  const open = () => {
    if (dialog.open) return
    dialog.showModal()
    input.select()
    load().catch(() => undefined)
  }

  const links = () => [...results.querySelectorAll('a')]
  dialog.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && document.activeElement === input) {
      event.preventDefault()
      links()[0]?.click()
    }
    // Browsers would only empty the field.
    if (event.key === 'Escape') {
      event.preventDefault()
      dialog.close()
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    const at = links().indexOf(document.activeElement as HTMLAnchorElement) + step
    if (at < 0) input.focus()
    else links()[Math.min(at, links().length - 1)]?.focus()
  })
  // A result on the same page changes the fragment only, so the dialog would stay.
  results.addEventListener('click', () => dialog.close())
  close.addEventListener('click', () => dialog.close())
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog) dialog.close()
  })
  input.addEventListener('input', search)

  const isMac = /mac|iphone|ipad/i.test(navigator.userAgent)
  const button = element('button', { type: 'button', class: 'open-search', 'aria-keyshortcuts': 'Control+K Meta+K' })
  button.append('Search', element('kbd', { 'aria-hidden': 'true' }, isMac ? '⌘K' : 'Ctrl K'))
  button.addEventListener('click', open)
  document.addEventListener('keydown', (event) => {
    // No single key, because speech input may type letters anywhere.
    if (event.key !== 'k' || !(event.ctrlKey || event.metaKey)) return
    event.preventDefault()
    open()
  })
  document.querySelector('.top .brand')?.after(button)
  document.body.append(dialog)
}
