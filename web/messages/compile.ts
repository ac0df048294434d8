import { findCalls, keyOf, type MessageCall } from './calls.ts'
import { compileRich, compileText, type Message, namesIn, parseMessage } from './icu.ts'
import { pseudo } from './pseudo.ts'

/** Returns the text of a message in one language. Undefined if it isn't translated. */
export type Translation = (english: Message, key: string) => string | Message | undefined

/** Returns the translation into a page's language. @param catalogue German texts, by key */
export const translationInto = (language: string, catalogue: Readonly<Record<string, string>>): Translation => {
  if (language === 'en') return (english) => english
  if (language === PSEUDO) return pseudo
  return (_, key) => catalogue[key]
}

/** Made-up language of the tests. Its texts are longer than English, have no plain letters, and run from right to left. */
export const PSEUDO = 'ar-XB'

/** Parses a message and its translation. @throws {Error} if they take other values than the call gives */
export const parsePair = (
  { kind, text, values }: MessageCall,
  translate: (english: Message) => string | Message | undefined,
): Message | undefined => {
  const english = parseMessage(text, kind === 'rich')
  const given = [...values.keys()].sort().join(', ')
  if (namesIn(english).join(', ') !== given)
    throw new Error(`takes ${namesIn(english).join(', ') || 'no values'}, but is given ${given || 'none'}`)
  const translated = translate(english)
  const message = typeof translated === 'string' ? parseMessage(translated, kind === 'rich') : translated
  if (message && namesIn(message).join(', ') !== given)
    throw new Error(`its translation takes ${namesIn(message).join(', ') || 'no values'} instead of ${given || 'none'}`)
  return message
}

const SIMPLE = /^[\w$]+(\??\.[\w$]+)*$/

/**
 * Replaces the calls of `t` and `rich` in a source file by the texts of one language, so that a page carries neither a
 * catalogue nor a parser.
 *
 * @param report takes the messages that have no translation
 * @throws {Error} for a message that can't be compiled
 */
export const compileMessages = (
  code: string,
  file: string,
  translation: Translation,
  report: (missing: string) => void,
): string => {
  const from = /from '([./]+(?:ui\/)?messages\.ts)'/.exec(code)?.[1]
  // Modules of the server get their texts as a parameter.
  if (!from) return code
  const calls = findCalls(code, file)
  const helpers = new Set<string>()
  const helper = (name: string) => () => {
    helpers.add(name)
    return `__${name}`
  }
  /** Returns the source between two positions, with its calls replaced. */
  const rewrite = (start: number, end: number): string => {
    let at = start
    let done = ''
    for (const call of calls) {
      if (call.start < at || call.end > end) continue
      done += code.slice(at, call.start) + compiled(call)
      at = call.end
    }
    return done + code.slice(at, end)
  }
  const compiled = (call: MessageCall): string => {
    try {
      const key = keyOf(call)
      const message = parsePair(call, (english) => translation(english, key))
      if (!message) report(key)
      // An expression that is needed twice runs once.
      const parameters: [name: string, source: string][] = []
      const sources = new Map<string, string>()
      for (const [name, { start, end }] of call.values) {
        const source = rewrite(start, end)
        const once = JSON.stringify(message ?? []).split(`"value":${JSON.stringify(name)}`).length < 3
        const plural = JSON.stringify(message ?? []).includes(`"type":6,"value":${JSON.stringify(name)}`)
        if (SIMPLE.test(source) || (once && !plural)) sources.set(name, `(${source})`)
        else {
          parameters.push([`__${name}`, source])
          sources.set(name, `__${name}`)
        }
      }
      const scope = {
        value: (name: string) => sources.get(name) ?? '',
        plural: helper('plural'),
        number: helper('number'),
      }
      const body = (call.kind === 'rich' ? compileRich : compileText)(message ?? [], scope)
      if (parameters.length === 0) return `(${body})`
      return `((${parameters.map(([name]) => name).join()})=>${body})(${parameters.map(([, source]) => source).join()})`
    } catch (error) {
      throw new Error(`${file}:${call.line} “${call.text}” ${(error as Error).message}`)
    }
  }
  const done = rewrite(0, code.length)
  const imports = [...helpers].map((name) => `${name} as __${name}`).join(', ')
  return imports ? `import { ${imports} } from '${from}'\n${done}` : done
}
