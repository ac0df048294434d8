import { type MessageFormatElement, parse as parseIcu, TYPE } from '@formatjs/icu-messageformat-parser'

/** Parsed message. */
export type Message = MessageFormatElement[]

/**
 * Parses a message in ICU syntax. Numbers and dates come as values that `ui/format.ts` has formatted, in the reader's region
 * and time zone.
 *
 * @throws {Error} if it uses more than arguments, plurals, selects and, if `tags`, tags
 */
export const parseMessage = (text: string, tags: boolean): Message => {
  if (text.includes("'")) throw new Error('write ’ instead of an apostrophe, which ICU takes for a quote')
  const message = parseIcu(text, { captureLocation: false, ignoreTag: !tags, shouldParseSkeletons: false })
  const check = (parts: Message): void => {
    for (const part of parts) {
      if (part.type === TYPE.number || part.type === TYPE.date || part.type === TYPE.time)
        throw new Error(`format ${part.value} before, with ui/format.ts`)
      if (part.type === TYPE.plural && (part.offset !== 0 || part.pluralType !== 'cardinal'))
        throw new Error(`${part.value} uses an offset or ordinals`)
      if (part.type === TYPE.tag) check(part.children)
      if (part.type === TYPE.plural || part.type === TYPE.select)
        for (const option of Object.values(part.options)) check(option.value)
    }
  }
  check(message)
  return message
}

/** Returns the placeholders and tags of a message, in alphabetical order. */
export const namesIn = (message: Message): string[] => {
  const names = new Set<string>()
  const visit = (parts: Message): void => {
    for (const part of parts) {
      if (part.type === TYPE.literal || part.type === TYPE.pound) continue
      names.add(part.value)
      if (part.type === TYPE.tag) visit(part.children)
      if (part.type === TYPE.plural || part.type === TYPE.select)
        for (const option of Object.values(part.options)) visit(option.value)
    }
  }
  visit(message)
  return [...names].sort()
}

/** Replaces the literal text of a message. */
export const mapText = (message: Message, change: (text: string) => string): Message =>
  message.map((part): MessageFormatElement => {
    if (part.type === TYPE.literal) return { ...part, value: change(part.value) }
    if (part.type === TYPE.tag) return { ...part, children: mapText(part.children, change) }
    if (part.type === TYPE.plural || part.type === TYPE.select) {
      const options = Object.entries(part.options).map(([name, option]) => [
        name,
        { ...option, value: mapText(option.value, change) },
      ])
      return { ...part, options: Object.fromEntries(options) }
    }
    return part
  })

/** Sources of a message's values, and names of the helpers that its code calls. */
interface Scope {
  value: (name: string) => string
  plural: () => string
  number: () => string
}

const literal = (text: string): string => text.replaceAll(/[`\\]|\$\{/g, (found) => `\\${found}`)

/** Picks between the compiled branches of a plural or select. */
const choose = (
  part: Extract<MessageFormatElement, { options: object }>,
  scope: Scope,
  branch: (parts: Message, count?: string) => string,
): string => {
  const value = scope.value(part.value)
  const count = part.type === TYPE.plural ? value : undefined
  const { other, ...rest } = part.options
  const last = branch(other?.value ?? [], count)
  return Object.entries(rest).reduceRight((otherwise, [name, option]) => {
    const condition =
      count === undefined
        ? `${value}===${JSON.stringify(name)}`
        : name.startsWith('=')
          ? `${count}===${name.slice(1)}`
          : `${scope.plural()}(${count})===${JSON.stringify(name)}`
    return `(${condition}?${branch(option.value, count)}:${otherwise})`
  }, last)
}

/** Compiles a message to an expression that makes a string. */
export const compileText = (message: Message, scope: Scope, count?: string): string => {
  const parts = message.map((part) => {
    if (part.type === TYPE.literal) return literal(part.value)
    if (part.type === TYPE.argument) return `\${${scope.value(part.value)}}`
    if (part.type === TYPE.pound) return `\${${scope.number()}(${count})}`
    if (part.type === TYPE.plural || part.type === TYPE.select)
      return `\${${choose(part, scope, (parts, given) => compileText(parts, scope, given ?? count))}}`
    throw new Error('has tags: use rich()')
  })
  return `\`${parts.join('')}\``
}

/** Compiles a message to an expression that makes an array of strings and elements. */
export const compileRich = (message: Message, scope: Scope, count?: string): string => {
  const parts = message.map((part) => {
    if (part.type === TYPE.literal) return `\`${literal(part.value)}\``
    if (part.type === TYPE.argument) return scope.value(part.value)
    if (part.type === TYPE.pound) return `${scope.number()}(${count})`
    if (part.type === TYPE.tag) {
      const plain = part.children.every(({ type }) => type === TYPE.literal)
      const children = plain ? compileText(part.children, scope, count) : compileRich(part.children, scope, count)
      return `${scope.value(part.value)}(${children})`
    }
    if (part.type === TYPE.plural || part.type === TYPE.select)
      return `...${choose(part, scope, (parts, given) => compileRich(parts, scope, given ?? count))}`
    throw new Error('is no text')
  })
  return `[${parts.join(',')}]`
}
