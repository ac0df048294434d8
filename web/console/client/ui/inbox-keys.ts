import { announce } from '../../../ui/announce.tsx'

/** Keys that decide, by the names of the buttons that they move to. */
const DECISIONS: Record<string, readonly string[]> = { a: ['approve', 'answer'], r: ['reject', 'decline'] }

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.matches('input:not([type="checkbox"]), textarea, select')

/**
 * Moves through a list of what waits with j and k, and to an item's decision with a and r. Enter then decides, so no single
 * key approves a call. Works only while the focus is in the list, because speech input may type single letters anywhere.
 */
export const moveByKey = (event: KeyboardEvent & { currentTarget: HTMLElement }): void => {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
  const items = [...event.currentTarget.querySelectorAll<HTMLElement>('[data-item]')]
  const at = items.findIndex((item) => item.contains(document.activeElement))
  const names = DECISIONS[event.key]
  if (names) {
    const button = names
      .map((name) => items[at]?.querySelector<HTMLButtonElement>(`button[data-decision="${name}"]`))
      .find((one) => one !== null && one !== undefined)
    if (!button) return
    if (button.disabled)
      announce('You can’t approve this yet. Read the whole call, and what the workspace’s rule says.')
    else button.focus()
  } else if (event.key === 'j' || event.key === 'k') {
    const next = items[at + (event.key === 'j' ? 1 : -1)]
    if (!next) return
    next.focus()
    next.scrollIntoView({ block: 'nearest' })
  } else return
  event.preventDefault()
}
