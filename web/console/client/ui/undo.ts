import { announce, OFFERED_MS, show } from '../../../ui/announce.tsx'
import { t } from '../../../ui/messages.ts'

/** The latest offer to undo something, for Ctrl-Z. */
let latest: (() => void) | undefined

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

addEventListener('keydown', (event) => {
  const isUndo = event.key === 'z' && (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey
  if (!isUndo || !latest || isTyping(event.target)) return
  event.preventDefault()
  latest()
})

/** Announces what was done with a button that takes it back once. Ctrl-Z does the same, outside of fields. */
const offer = (text: string, back: () => void): void => {
  const use = (): void => {
    if (latest === use) latest = undefined
    remove()
    if (!isOver) back()
    isOver = true
  }
  let isOver = false
  const remove = show(text, { label: t('Undo'), act: use })
  latest = use
  setTimeout(() => {
    isOver = true
    if (latest === use) latest = undefined
  }, OFFERED_MS)
}

/**
 * Announces a change that a second call reverses.
 * @param back reverses it on the server, and shows that
 */
export const announceUndoable = (text: string, back: () => Promise<unknown>): void =>
  offer(text, () => {
    back().then(
      () => announce(t('Undone.')),
      () => announce(t('That couldn’t be undone, because something changed since.')),
    )
  })

/**
 * Announces a change that no call can reverse, and makes it only once the time to undo it is over. If the page is closed or put
 * aside before, it is made at once: what was announced is never lost.
 * @param commit makes the change
 * @param commitAtOnce makes it while the page is going away
 * @param revert shows the state before again
 */
export const announceDelayed = (
  text: string,
  { commit, commitAtOnce, revert }: { commit: () => Promise<unknown>; commitAtOnce: () => void; revert: () => void },
): void => {
  const end = (): boolean => {
    if (isOver) return false
    isOver = true
    clearTimeout(timer)
    removeEventListener('pagehide', leave)
    return true
  }
  const leave = (): void => {
    if (end()) commitAtOnce()
  }
  let isOver = false
  const timer = setTimeout(() => {
    if (end()) commit().catch(revert)
  }, OFFERED_MS)
  addEventListener('pagehide', leave)
  offer(text, () => {
    if (end()) revert()
  })
}
