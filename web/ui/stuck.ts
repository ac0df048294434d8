import type { RefObject } from 'preact'
import { useLayoutEffect } from 'preact/hooks'

/**
 * Measures the sticky parts of a screen, those with `data-stuck`, for the page's scroll padding: what takes the focus scrolls
 * into the part of the window that they leave.
 */
export const useStuck = (screen: RefObject<HTMLElement | null>): void => {
  useLayoutEffect(() => {
    const { style } = document.documentElement
    const measured = new ResizeObserver((entries) => {
      for (const { target } of entries) {
        const { stuck } = (target as HTMLElement).dataset
        style.setProperty(`--stuck-${stuck}`, `${target.getBoundingClientRect().height}px`)
      }
    })
    for (const part of screen.current?.querySelectorAll('[data-stuck]') ?? []) measured.observe(part)
    return () => {
      measured.disconnect()
      for (const edge of ['top', 'bottom']) style.removeProperty(`--stuck-${edge}`)
    }
  }, [screen])
}
