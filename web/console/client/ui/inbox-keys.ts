import { announce } from '../../../ui/announce.tsx'
import { t } from '../../../ui/messages.ts'

/** Keys that decide, by the names of the buttons that they move to. */
const DECISIONS: Record<string, readonly string[]> = { a: ['approve', 'answer'], r: ['reject', 'decline'] }

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.matches('input:not([type="checkbox"]), textarea, select')

/**
 * Moves through a list of what waits with j and k, to an item's decision with a and r, and to its other controls with o, s
 * and x. Enter then decides, so no single key approves a call. Works only while the focus is in the list, because speech
 * input may type single letters anywhere.
 */
export const moveByKey = (event: KeyboardEvent & { currentTarget: HTMLElement }): void => {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
  // Groups are lists next to each other.
  const items = [...(event.currentTarget.parentElement ?? document).querySelectorAll<HTMLElement>('[data-item]')]
  const at = items.findIndex((item) => item.contains(document.activeElement))
  const item = items[at]
  const names = DECISIONS[event.key]
  const open = item?.querySelector<HTMLElement>('[data-open]')
  if (names) {
    const button = names
      .map((name) => item?.querySelector<HTMLElement>(`[data-decision="${name}"]`))
      .find((one) => one !== null && one !== undefined)
    if (button?.matches(':disabled'))
      announce(t('You can’t approve this yet. Read the whole call, and what the workspace’s rule says.'))
    else if (button) button.focus()
    else if (open?.getAttribute('aria-expanded') === 'false') open.click()
    else return
  } else if (event.key === 'j' || event.key === 'k') {
    const next = items[at + (event.key === 'j' ? 1 : -1)]
    if (!next) return
    next.focus()
    next.scrollIntoView({ block: 'nearest' })
  } else if (event.key === 'o') open?.click()
  else if (event.key === 'x') item?.querySelector<HTMLElement>('[data-select]')?.click()
  else if (event.key === 's') item?.querySelector<HTMLElement>('[data-snooze]')?.focus()
  else return
  event.preventDefault()
}
