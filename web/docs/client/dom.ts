type Content = string | Node

/** Creates an element with properties, attributes (`aria-…`, `data-…`, `role`) and content. */
export const element = <K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Readonly<Record<string, string>> = {},
  ...content: Content[]
): HTMLElementTagNameMap[K] => {
  const created = document.createElement(name)
  for (const [attribute, value] of Object.entries(attributes)) created.setAttribute(attribute, value)
  created.append(...content)
  return created
}

/** Tells people who use a screen reader. */
export const announce = (text: string): void => {
  const status = document.getElementById('announcement')
  if (status) status.textContent = text
}
