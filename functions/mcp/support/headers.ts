import { fail } from '#shared/kernel/errors.ts'
import { portableSchema } from '#shared/kernel/json-schema/portable.ts'
import type { Settings } from '#shared/kernel/settings.ts'
import { isObject, MCP_ERRORS, McpError } from './protocol.ts'

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** Returns the value of a header that repeats a part of the body, or undefined if its encoding is faulty. */
export const decodeHeader = (sent: string): string | undefined => {
  const value = sent.trim()
  const encoded = /^=\?base64\?(.*)\?=$/.exec(value)?.[1]
  if (encoded === undefined) return value
  if (!BASE64.test(encoded)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(encoded, 'base64'))
  } catch {
    return undefined
  }
}

/** A property of a tool's arguments that clients repeat in the header `Mcp-Param-<name>`. */
interface Repeated {
  path: string[]
  name: string
  type: string
}

const KEYWORD = 'x-mcp-header'
/** A schema that carries the keyword. A property of that name has a schema as its value. */
const isDemand = (value: unknown): boolean => isObject(value) && KEYWORD in value && !isObject(value[KEYWORD])

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const TYPES: readonly unknown[] = ['string', 'integer', 'boolean']

/**
 * Lists the properties that an input schema asks to repeat in headers. Undefined if any of them is faulty: its name isn't
 * a header's or occurs twice, its type isn't simple, or it is anywhere but in nested `properties`.
 */
const repeatedIn = (schema: Record<string, unknown>): Repeated[] | undefined => {
  const found: Repeated[] = []
  let mentions = 0
  const count = (value: unknown): void => {
    if (isDemand(value)) mentions++
    if (typeof value !== 'object' || value === null) return
    for (const inner of Object.values(value)) count(inner)
  }
  const walk = ({ properties }: Record<string, unknown>, path: string[]): void => {
    if (!isObject(properties)) return
    for (const [key, property] of Object.entries(properties)) {
      if (!isObject(property)) continue
      const { [KEYWORD]: name, type } = property
      const isFit = typeof name === 'string' && TOKEN.test(name) && TYPES.includes(type)
      if (isFit) found.push({ path: [...path, key], name: name.toLowerCase(), type: type as string })
      walk(property, [...path, key])
    }
  }
  count(schema)
  walk(schema, [])
  const isUnique = new Set(found.map(({ name }) => name)).size === found.length
  return found.length === mentions && isUnique ? found : undefined
}

/**
 * Returns the schema as listed: in its portable form, with its demands for headers unless they are faulty, because
 * clients would drop the tool.
 */
export const listedSchema = (schema: Record<string, unknown>): Record<string, unknown> =>
  portableSchema(schema, repeatedIn(schema) ? [KEYWORD] : [])

/** Checks the headers that a tool's schema asks for. @throws {McpError} `headerMismatch` */
export const requireParameterHeaders = (
  schema: Record<string, unknown>,
  args: Record<string, unknown>,
  headers: Record<string, string>,
): void => {
  for (const { path, name, type } of repeatedIn(schema) ?? []) {
    const value = path.reduce<unknown>(
      (at, key) => (isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined),
      args,
    )
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') continue
    const sent = headers[`mcp-param-${name}`]
    const decoded = sent === undefined ? undefined : decodeHeader(sent)
    const equals =
      decoded !== undefined &&
      (type === 'integer' && typeof value === 'number' && /^-?\d+(\.\d+)?$/.test(decoded)
        ? Number(decoded) === value
        : decoded === String(value))
    if (equals) continue
    throw new McpError(
      MCP_ERRORS.headerMismatch,
      sent === undefined
        ? `The header Mcp-Param-${name} is missing.`
        : `The header Mcp-Param-${name} doesn’t equal the argument.`,
      { status: 400 },
    )
  }
}

const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname)

/**
 * Refuses requests of web pages that have no business here. The gateway has checked the Host.
 * @throws `forbidden`
 */
export const requireTrustedOrigin = (
  { origin }: Record<string, string>,
  { baseUrl }: Pick<Settings, 'baseUrl'>,
): void => {
  if (origin === undefined || isTrusted(origin, baseUrl)) return
  throw fail('forbidden', {
    message: 'Requests from this Origin aren’t accepted.',
    fix: 'Call from an https: page, from this machine, or without an Origin header.',
  })
}

const isTrusted = (origin: string, baseUrl: string): boolean => {
  if (!URL.canParse(origin)) return false
  if (origin === new URL(baseUrl).origin) return true
  const { protocol, hostname } = new URL(origin)
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))
}
