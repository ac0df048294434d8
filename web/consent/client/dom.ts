import { sanitize } from '../../session/text.ts'

export const $ = <T extends HTMLElement = HTMLElement>(id: string): T => document.getElementById(id) as T

/** Sets an element's text. Untrusted text is never parsed as markup, and deceptive characters become visible. */
export const setText = (id: string, text: string): void => {
  $(id).textContent = sanitize(text)
}

export const element = <K extends keyof HTMLElementTagNameMap>(
  name: K,
  className: string,
  text = '',
): HTMLElementTagNameMap[K] => {
  const made = document.createElement(name)
  if (className) made.className = className
  made.textContent = sanitize(text)
  return made
}

let shown = 'wait'

/** Shows one section and moves focus to its heading, so that screen readers start there. */
export const showSection = (id: 'wait' | 'sign-in' | 'handed-over' | 'request' | 'over'): void => {
  for (const section of document.querySelectorAll('section')) section.hidden = section.id !== id
  if (shown === id) return
  shown = id
  $(id).querySelector<HTMLElement>('h1')?.focus({ preventScroll: true })
  scrollTo(0, 0)
}
