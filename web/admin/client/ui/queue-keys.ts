const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.matches('input:not([type="checkbox"]), textarea, select')

/** Keys that move to a decision, by the start of its button's name. Enter then opens its dialog, so no single key decides. */
const DECISIONS: Record<string, RegExp> = { a: /^approve/i, r: /^reject/i, c: /^(claim|release)/i }

/**
 * Moves through a queue with j and k, and to an item's decisions with a, r and c. Works only while the focus is inside,
 * because speech input may type single letters anywhere.
 */
export const decideByKey = (event: KeyboardEvent & { currentTarget: HTMLElement }): void => {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
  if (event.target instanceof HTMLElement && event.target.closest('dialog')) return
  const items = [...event.currentTarget.querySelectorAll<HTMLElement>('[data-item]')]
  const at = items.findIndex((item) => item.contains(document.activeElement))
  const wanted = DECISIONS[event.key]
  if (wanted) {
    const around = items[at] ?? event.currentTarget
    const button = [...around.querySelectorAll('button')].find((one) => wanted.test(one.textContent?.trim() ?? ''))
    if (!button) return
    button.focus()
  } else if (event.key === 'j' || event.key === 'k') {
    const next = items[at + (event.key === 'j' ? 1 : -1)]
    const target = next?.querySelector<HTMLElement>('a, button')
    if (!next || !target) return
    target.focus()
    next.scrollIntoView({ block: 'nearest' })
  } else return
  event.preventDefault()
}
