import { clean } from '../../session/text.ts'

export const $ = <T extends HTMLElement = HTMLElement>(id: string): T => document.getElementById(id) as T

/** Sets text from anywhere: never markup, and nothing that deceives. */
export const say = (id: string, text: string): void => {
  $(id).textContent = clean(text)
}

export const element = <K extends keyof HTMLElementTagNameMap>(
  name: K,
  className: string,
  text = '',
): HTMLElementTagNameMap[K] => {
  const made = document.createElement(name)
  if (className) made.className = className
  made.textContent = clean(text)
  return made
}

let shown = 'wait'

/** Shows one part of the page and moves the focus to its heading, so that a screen reader begins there. */
export const show = (id: 'wait' | 'sign-in' | 'handed-over' | 'request' | 'over'): void => {
  for (const section of document.querySelectorAll('section')) section.hidden = section.id !== id
  if (shown === id) return
  shown = id
  $(id).querySelector<HTMLElement>('h1')?.focus({ preventScroll: true })
  scrollTo(0, 0)
}
