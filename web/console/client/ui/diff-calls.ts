import { t } from '../../../ui/messages.ts'
import { entryOf, partsOf, textOf } from './call-parts.ts'
import { leavesOf, parseExact } from './exact-json.ts'

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

interface Change {
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
