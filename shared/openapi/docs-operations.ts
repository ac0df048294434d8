import { escaped } from './escaped.ts'

interface Operation {
  summary?: string
  tags?: string[]
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete']

/** Every operation of an OpenAPI document by tag: what remains of the reference without JavaScript. */
export const operationsList = (openapi: { paths?: Record<string, unknown> } | undefined): string => {
  const byTag = new Map<string, string[]>()
  for (const [path, item] of Object.entries(openapi?.paths ?? {}))
    for (const method of METHODS) {
      const operation = (item as Record<string, Operation | undefined>)[method]
      if (operation === undefined) continue
      const tag = operation.tags?.[0] ?? 'Other'
      const line = `<li><code><span class="method">${method.toUpperCase()}</span>${escaped(path)}</code> ${escaped(operation.summary ?? '')}</li>`
      byTag.set(tag, [...(byTag.get(tag) ?? []), line])
    }
  return [...byTag].map(([tag, lines]) => `<h2>${escaped(tag)}</h2>\n<ul>\n${lines.join('\n')}\n</ul>`).join('\n')
}
