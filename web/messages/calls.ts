import { parseAst } from 'vite'

/** Call of `t`, `rich` or `msg` in a source file. `msg` counts as `t`. */
export interface MessageCall {
  kind: 't' | 'rich'
  /** Positions of the call in the source. */
  start: number
  end: number
  /** English text. */
  text: string
  /** Tells messages apart that are the same in English only. */
  context: string | undefined
  /** Positions of the values' expressions, by name. */
  values: Map<string, { start: number; end: number }>
  line: number
}

/** Catalogue key of a message. */
export const keyOf = ({ text, context }: Pick<MessageCall, 'text' | 'context'>): string =>
  context === undefined ? text : `${text} // ${context}`

interface Node {
  type: string
  start: number
  end: number
  [field: string]: unknown
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string'

/** Visits a syntax tree from the outside in. */
const walk = (node: Node, visit: (node: Node) => void): void => {
  visit(node)
  for (const value of Object.values(node)) {
    if (Array.isArray(value)) for (const one of value) isNode(one) && walk(one, visit)
    else if (isNode(value)) walk(value, visit)
  }
}

/** Attributes and properties whose strings people read. */
const READ = new Set(
  'alt aria-description aria-label aria-placeholder aria-roledescription aria-valuetext fix fixed hint label legend note placeholder said start summary text title verb what'.split(
    ' ',
  ),
)

/** Elements whose content is the same in all languages. */
const LITERAL = new Set(['code', 'kbd', 'pre', 'samp', 'script', 'style'])

/** Untranslated text in a source file. */
export interface UntranslatedText {
  line: number
  text: string
}

/** Returns the strings that an expression can become, as far as they are written in it. */
const stringsIn = (node: Node | undefined | null): { text: string; node: Node }[] => {
  if (!node) return []
  const own = textOf(node)
  if (own !== undefined) return [{ text: own, node }]
  if (node.type === 'JSXExpressionContainer') return stringsIn(node.expression as Node)
  if (node.type === 'ConditionalExpression')
    return [...stringsIn(node.consequent as Node), ...stringsIn(node.alternate as Node)]
  if (node.type === 'LogicalExpression') return [...stringsIn(node.left as Node), ...stringsIn(node.right as Node)]
  if (node.type === 'TemplateLiteral')
    return (node.quasis as (Node & { value: { cooked: string } })[]).map((part) => ({
      text: part.value.cooked,
      node: part,
    }))
  return []
}

/** Two letters in a row, which symbols, units and separators don't have. */
const WORD = /\p{L}{2}/u

/** Codes, ids, addresses and abbreviations, which are the same in all languages. */
const TECHNICAL = /^([A-Z]{2,5}|[a-z\d]+([-_.:/]+[a-z\d…*]*)+)$/

const isText = (text: string): boolean => WORD.test(text) && !TECHNICAL.test(text.trim())

/**
 * Finds text that people would read in JSX and that isn't a message, so that it would stay English: content of elements, and
 * attributes such as `title` and `aria-label`.
 */
export const findUntranslated = (code: string, file: string): UntranslatedText[] => {
  if (!file.endsWith('x')) return []
  const found: UntranslatedText[] = []
  const report = (strings: { text: string; node: Node }[]): void => {
    for (const { text, node } of strings)
      if (isText(text)) found.push({ line: code.slice(0, node.start).split('\n').length, text: text.trim() })
  }
  const visit = (node: Node): void => {
    const opening = node.openingElement as (Node & { name: Node }) | undefined
    if (node.type === 'JSXElement' && LITERAL.has(String(opening?.name.name))) return
    if (node.type === 'JSXText') report([{ text: String(node.value), node }])
    if (node.type === 'JSXElement' || node.type === 'JSXFragment')
      for (const child of node.children as Node[]) if (child.type === 'JSXExpressionContainer') report(stringsIn(child))
    if (node.type === 'JSXAttribute' && READ.has(String((node.name as Node).name)))
      report(stringsIn(node.value as Node))
    for (const value of Object.values(node)) {
      if (Array.isArray(value)) for (const one of value) isNode(one) && visit(one)
      else if (isNode(value)) visit(value)
    }
  }
  visit(parseSource(code, true))
  return found.sort((a, b) => a.line - b.line)
}

/** Parses TypeScript with JSX. */
const parseSource = (code: string, jsx: boolean): Node =>
  parseAst(code, { lang: jsx ? 'tsx' : 'ts' }) as unknown as Node

/** Reads a string literal, a template without values, or a sum of them. */
const textOf = (node: Node | undefined): string | undefined => {
  if (node?.type === 'Literal' && typeof node.value === 'string') return node.value
  if (node?.type === 'TemplateLiteral' && (node.expressions as Node[]).length === 0) {
    const [only] = node.quasis as { value: { cooked: string } }[]
    return only?.value.cooked
  }
  if (node?.type === 'BinaryExpression' && node.operator === '+') {
    const [left, right] = [textOf(node.left as Node), textOf(node.right as Node)]
    return left === undefined || right === undefined ? undefined : left + right
  }
  return undefined
}

const valuesOf = (node: Node | undefined): MessageCall['values'] | undefined => {
  const values: MessageCall['values'] = new Map()
  if (node === undefined || (node.type === 'Identifier' && node.name === 'undefined')) return values
  if (node.type !== 'ObjectExpression') return undefined
  for (const property of node.properties as Node[]) {
    const key = property.key as Node | undefined
    if (property.type !== 'Property' || property.computed || key?.type !== 'Identifier') return undefined
    const { start, end } = property.value as Node
    values.set(String(key.name), { start, end })
  }
  return values
}

/**
 * Finds the messages of a source file, in their order.
 *
 * @throws {Error} if a call can't be compiled, because its text or values aren't written in place
 */
export const findCalls = (code: string, file: string): MessageCall[] => {
  if (!/\b(?:t|rich|msg)\(/.test(code)) return []
  const calls: MessageCall[] = []
  walk(parseSource(code, file.endsWith('x')), (node) => {
    const callee = node.callee as Node | undefined
    if (node.type !== 'CallExpression' || callee?.type !== 'Identifier') return
    if (callee.name !== 't' && callee.name !== 'rich' && callee.name !== 'msg') return
    const kind = callee.name === 'msg' ? 't' : callee.name
    const line = code.slice(0, node.start).split('\n').length
    const [message, given, context] = node.arguments as Node[]
    const [text, values, named] = [textOf(message), valuesOf(given), context && textOf(context)]
    if (text === undefined || values === undefined || (context && named === undefined))
      throw new Error(`${file}:${line} takes its text, values and context in place, as literals`)
    calls.push({ kind, start: node.start, end: node.end, text, context: named, values, line })
  })
  return calls.sort((a, b) => a.start - b.start)
}
