import { element } from './dom.ts'

const STORED = 'docs-language'

/** Returns the language that the reader chose last. Storage may be blocked. */
const chosen = (): string | null => {
  try {
    return localStorage.getItem(STORED)
  } catch {
    return null
  }
}

const remember = (name: string): void => {
  try {
    localStorage.setItem(STORED, name)
  } catch {
    // The choice then holds for this page only.
  }
}

interface Group {
  select(name: string): void
}

const createGroup = (container: Element, index: number, choose: (name: string) => void): Group => {
  const figures = [...container.querySelectorAll<HTMLElement>('figure[data-tab]')]
  const names = figures.map(({ dataset }) => dataset.tab ?? '')
  const tabs = names.map((name, at) => {
    const tab = element('button', { type: 'button', role: 'tab', id: `tab-${index}-${at}` }, name)
    tab.addEventListener('click', () => choose(name))
    return tab
  })
  const list = element('div', { role: 'tablist', 'aria-label': 'Language' }, ...tabs)
  list.addEventListener('keydown', (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    const next = (tabs.indexOf(document.activeElement as HTMLButtonElement) + step + tabs.length) % tabs.length
    choose(names[next] ?? '')
    tabs[next]?.focus()
  })
  const panels = figures.map((figure, at) => {
    const id = `panel-${index}-${at}`
    const panel = element('div', { role: 'tabpanel', id, 'aria-labelledby': `tab-${index}-${at}` })
    figure.replaceWith(panel)
    panel.append(figure)
    tabs[at]?.setAttribute('aria-controls', id)
    return panel
  })
  container.prepend(list)
  return {
    select(name) {
      const shown = Math.max(0, names.indexOf(name))
      panels.forEach((panel, at) => {
        panel.hidden = at !== shown
        tabs[at]?.setAttribute('aria-selected', String(at === shown))
        tabs[at]?.setAttribute('tabindex', at === shown ? '0' : '-1')
      })
    },
  }
}

/** Makes tabs of code blocks that show the same in several languages. All groups of a page switch together. */
export const addTabs = (): void => {
  const groups: Group[] = []
  const choose = (name: string) => {
    const before = document.activeElement?.getBoundingClientRect().top
    for (const group of groups) group.select(name)
    // Groups further up may have become longer or shorter. The chosen tab stays in its place.
    const after = document.activeElement?.getBoundingClientRect().top
    if (before !== undefined && after !== undefined) window.scrollBy(0, after - before)
    remember(name)
  }
  document.querySelectorAll('.tabs').forEach((container, index) => {
    groups.push(createGroup(container, index, choose))
  })
  const known = chosen()
  for (const group of groups) group.select(known ?? '')
}
