import { t } from '../../../ui/messages.ts'
import { type Exact, parseExact } from './exact-json.ts'

/** One part of a call as people read it. */
export type Part =
  | { name: string; kind: 'table'; rows: [name: string, value: string][] }
  | { name: string; kind: 'tree'; value: Exact }
  | { name: string; kind: 'text'; text: string }

export const entryOf = (value: Exact, name: string): Exact | undefined =>
  value.kind === 'object' ? value.entries.find((entry) => entry.name === name)?.value : undefined

export const textOf = (value: Exact | undefined): string | undefined =>
  value?.kind === 'text' ? value.text : undefined

/** Reads form fields in their order. Returns undefined for what isn't a form. */
const parseForm = (text: string): [string, string][] | undefined => {
  try {
    return text.split('&').map((field) => {
      const [name = '', ...value] = field.replaceAll('+', ' ').split('=')
      return [decodeURIComponent(name), decodeURIComponent(value.join('='))]
    })
  } catch {
    return undefined
  }
}

/**
 * Reads a body as its content type says, because that is what the receiver does. A form can look like JSON, and hold other
 * values than the JSON shows.
 */
const bodyPart = (text: string, type: string): Part => {
  const value = /^application\/([\w.-]+\+)?json[\t ]*(;|$)/i.test(type) ? parseExact(text) : undefined
  if (value) return { name: t('Body'), kind: 'tree', value }
  const rows = /^application\/x-www-form-urlencoded[\t ]*(;|$)/i.test(type) ? parseForm(text) : undefined
  return rows ? { name: t('Body'), kind: 'table', rows } : { name: t('Body'), kind: 'text', text }
}

/**
 * Splits a call's arguments into parts. Nothing is left out: what has no form of its own is in the last part.
 * @param text canonical JSON of the arguments
 */
export const partsOf = (tool: string, text: string): Part[] => {
  const all = parseExact(text)
  if (all?.kind !== 'object') return [{ name: t('Arguments'), kind: 'text', text }]
  if (tool !== 'http_fetch') return all.entries.length > 0 ? [{ name: t('Arguments'), kind: 'tree', value: all }] : []
  const url = textOf(entryOf(all, 'url')) ?? ''
  const search = /\?([^#]*)/.exec(url)?.[1]
  const query = search ? parseForm(search) : undefined
  const headers = entryOf(all, 'headers')
  const sent = headers?.kind === 'object' ? headers.entries.map(({ name, value }) => [name, textOf(value) ?? '']) : []
  const body = textOf(entryOf(all, 'body'))
  const type = sent.find(([name]) => name?.toLowerCase() === 'content-type')?.[1] ?? ''
  const rest = all.entries.filter(({ name }) => !['url', 'method', 'headers', 'body'].includes(name))
  return [
    ...(query ? [{ name: t('Query'), kind: 'table' as const, rows: query }] : []),
    ...(sent.length > 0 ? [{ name: t('Headers'), kind: 'table' as const, rows: sent as [string, string][] }] : []),
    ...(body ? [bodyPart(body, type)] : []),
    ...(rest.length > 0
      ? [{ name: t('Other'), kind: 'tree' as const, value: { kind: 'object' as const, entries: rest } }]
      : []),
  ]
}
