import { escapeHtml } from './escape-html.ts'

interface Operation {
  summary?: string
  tags?: string[]
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete']

/** Lists every operation of an OpenAPI document by tag, as the reference page without JavaScript. */
export const renderOperations = (openapi: { paths?: Record<string, unknown> } | undefined): string => {
  const byTag = new Map<string, string[]>()
  for (const [path, item] of Object.entries(openapi?.paths ?? {}))
    for (const method of METHODS) {
      const operation = (item as Record<string, Operation | undefined>)[method]
      if (operation === undefined) continue
      const tag = operation.tags?.[0] ?? 'Other'
      const line = `<li><code><span class="method">${method.toUpperCase()}</span>${escapeHtml(path)}</code> ${escapeHtml(operation.summary ?? '')}</li>`
      byTag.set(tag, [...(byTag.get(tag) ?? []), line])
    }
  return [...byTag].map(([tag, lines]) => `<h2>${escapeHtml(tag)}</h2>\n<ul>\n${lines.join('\n')}\n</ul>`).join('\n')
}
