import { t } from '../../../ui/messages.ts'
import { type Exact, leavesOf, parseExact } from './exact-json.ts'

/** One part of a call as people read it. */
export type Part =
  | { name: string; kind: 'table'; rows: [name: string, value: string][] }
  | { name: string; kind: 'tree'; value: Exact }
  | { name: string; kind: 'text'; text: string }

const entryOf = (value: Exact, name: string): Exact | undefined =>
  value.kind === 'object' ? value.entries.find((entry) => entry.name === name)?.value : undefined

const textOf = (value: Exact | undefined): string | undefined => (value?.kind === 'text' ? value.text : undefined)

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

/** Lists everything in a call with its place, to compare it with another one. */
const placesOf = (tool: string, text: string): Map<string, string> => {
  const parts = partsOf(tool, text)
  const found: [string, string][] = parts.flatMap((part): [string, string][] => {
    const under = (place: string): string => (place ? `${part.name} › ${place}` : part.name)
    if (part.kind === 'tree') return leavesOf(part.value).map(([place, value]) => [under(place), value])
    if (part.kind === 'text') return [[part.name, part.text]]
    return part.rows.map(([name, value], i) => {
      const before = part.rows.slice(0, i).filter(([other]) => other === name).length
      return [under(before > 0 ? `${name} (${before + 1})` : name), value]
    })
  })
  const address = textOf(entryOf(parseExact(text) ?? { kind: 'list', items: [] }, 'url'))?.replace(/\?.*$/s, '')
  return new Map([...(tool === 'http_fetch' && address ? [[t('Address'), address] as [string, string]] : []), ...found])
}

export interface Change {
  place: string
  before?: string
  after?: string
}

/** Lists what differs between two calls of a tool. */
export const diffCalls = (tool: string, before: string, after: string): Change[] => {
  const [old, now] = [placesOf(tool, before), placesOf(tool, after)]
  return [...new Set([...now.keys(), ...old.keys()])].flatMap((place) => {
    const [was, is] = [old.get(place), now.get(place)]
    if (was === is) return []
    return [{ place, ...(was !== undefined && { before: was }), ...(is !== undefined && { after: is }) }]
  })
}
