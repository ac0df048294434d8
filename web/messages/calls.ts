import { parseAst } from 'vite'

/** Call of `t` or `rich` in a source file. */
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
  if (!/\b(?:t|rich)\(/.test(code)) return []
  const calls: MessageCall[] = []
  walk(parseSource(code, file.endsWith('x')), (node) => {
    const callee = node.callee as Node | undefined
    if (node.type !== 'CallExpression' || callee?.type !== 'Identifier') return
    if (callee.name !== 't' && callee.name !== 'rich') return
    const line = code.slice(0, node.start).split('\n').length
    const [message, given, context] = node.arguments as Node[]
    const [text, values, named] = [textOf(message), valuesOf(given), context && textOf(context)]
    if (text === undefined || values === undefined || (context && named === undefined))
      throw new Error(`${file}:${line} takes its text, values and context in place, as literals`)
    calls.push({ kind: callee.name, start: node.start, end: node.end, text, context: named, values, line })
  })
  return calls.sort((a, b) => a.start - b.start)
}
