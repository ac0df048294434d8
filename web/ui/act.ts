import { useEffect, useRef, useState } from 'preact/hooks'
import { type Failure, toFailure } from '../session/failure.ts'

/**
 * Remembers where the focus is. The function that it returns moves it, if its element is gone in the next frame, as the row of
 * something deleted is: to the row that took its place, or to the one before at the list's end, and to the heading if no list is
 * left.
 */
export const holdFocus = (from = document.activeElement): (() => void) => {
  const lists: [list: Element, at: number][] = []
  for (let row = from?.closest('li,tr'); row?.parentElement; row = row.parentElement.closest('li,tr'))
    lists.push([row.parentElement, [...row.parentElement.children].indexOf(row)])
  return () =>
    requestAnimationFrame(() => {
      if (from?.isConnected || document.activeElement !== document.body) return
      const [list, at = 0] = lists.find(([one]) => one.isConnected) ?? []
      const row = (list?.children[at] ?? list?.lastElementChild) as HTMLElement | null | undefined
      if (row && !row.hasAttribute('tabindex')) row.tabIndex = -1
      const next = row?.querySelector<HTMLElement>('a,summary,.name') ?? row ?? document.querySelector('h1')
      next?.focus()
    })
}

/** Marks the button that was pressed, or that sent a form, as busy. @returns removes the mark */
const markPressed = (): (() => void) => {
  const { event } = window
  const pressed = event instanceof SubmitEvent ? event.submitter : (event?.target as Element | null | undefined)
  const button = pressed instanceof Element ? pressed.closest('button') : null
  button?.setAttribute('aria-busy', 'true')
  return () => button?.removeAttribute('aria-busy')
}

/**
 * Runs an action, such as a button press, and keeps its error for display. The pressed button is busy until its end. Ignores further presses while one is running.
 * Controls aren't disabled during it, because that would drop keyboard focus.
 */
export const useAction = () => {
  const running = useRef(false)
  const here = useRef(true)
  const [state, setState] = useState<{ busy: boolean; failure?: Failure }>({ busy: false })
  useEffect(
    () => () => {
      here.current = false
    },
    [],
  )
  const act = async (what: () => Promise<unknown>): Promise<boolean> => {
    if (running.current) return false
    running.current = true
    const keepFocus = holdFocus()
    const unmark = markPressed()
    setState({ busy: true })
    try {
      await what()
      if (here.current) setState({ busy: false })
      return true
    } catch (error) {
      const failure = toFailure(error)
      if (here.current) setState(failure.sessionEnded ? { busy: false } : { busy: false, failure })
      return false
    } finally {
      running.current = false
      unmark()
      keepFocus()
    }
  }
  return { ...state, act, clear: () => setState({ busy: false }) }
}
