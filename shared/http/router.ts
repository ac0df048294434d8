import { fail } from '../kernel/errors.ts'
import { isId } from '../kernel/ids.ts'
import type { Endpoint, Method } from './endpoint.ts'

export interface Match {
  endpoint: Endpoint
  params: Record<string, string>
}

export type Router = (method: string, path: string) => Match

interface Route {
  endpoint: Endpoint
  keys: string[]
  pattern: RegExp
}

/**
 * Creates the function that finds a request's endpoint. Unknown paths and ids of an impossible shape are `not_found`,
 * wrong methods `method_not_allowed`. Paths without parameters match first, whatever the method, so that `/apps/new` is
 * never an app's id.
 */
export const createMatcher = (endpoints: readonly Endpoint[]): Router => {
  const routes = endpoints.map(compile).sort((a, b) => a.keys.length - b.keys.length)
  return (method, path) => {
    const found = routes.find(({ pattern }) => pattern.test(path))
    const onPath = routes.filter(({ endpoint }) => endpoint.path === found?.endpoint.path)
    const route = onPath.find(({ endpoint }) => endpoint.method === method)
    if (route) return { endpoint: route.endpoint, params: paramsOf(route, path) }
    if (onPath.length === 0) {
      throw fail('not_found', { message: 'This path does not exist.', fix: 'Find the available paths in /docs.' })
    }
    const allowed = METHODS.filter((one) =>
      onPath.some(({ endpoint }) => endpoint.method === one || endpoint.elsewhere?.includes(one)),
    )
    throw fail('method_not_allowed', {
      message: `This path does not support ${method.slice(0, 20)}.`,
      fix: `Use ${new Intl.ListFormat('en', { type: 'disjunction' }).format(allowed)}.`,
      headers: { allow: allowed.join(', ') },
      details: { allowed },
    })
  }
}

/**
 * Compiles a path template to an exact pattern. The gateway has already chosen the group, so a list of patterns is
 * enough. A variable may be followed by a verb, as in `/tasks/{id}:cancel`; declare such a path before the one without.
 */
const compile = (endpoint: Endpoint): Route => {
  const keys: string[] = []
  const segments = endpoint.path.split('/').map((segment) => {
    const [, name, verb] = /^\{(\w+)\}(:\w+)?$/.exec(segment) ?? []
    if (name === undefined) return segment.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
    keys.push(name)
    return verb === undefined ? '([^/]+)' : `([^/:]+)${verb}`
  })
  return { endpoint, keys, pattern: new RegExp(`^${segments.join('/')}$`) }
}

const METHODS: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** Maximum length of a path parameter. No table key and no name is longer. */
const LONGEST = 200

const paramsOf = ({ endpoint, keys, pattern }: Route, path: string): Record<string, string> => {
  const raw = pattern.exec(path)?.slice(1) ?? []
  return Object.fromEntries(
    keys.map((name, i) => {
      const value = decode(raw[i] ?? '')
      const kind = endpoint.params[name]
      if (value === undefined || value.length > LONGEST) throw fail('not_found')
      if (kind && kind !== 'text' && !isId(kind, value)) throw fail('not_found')
      return [name, value]
    }),
  )
}

const decode = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
