import { fail } from '../kernel/errors.ts'
import { isId } from '../kernel/ids.ts'
import type { Method } from './endpoint.ts'
import type { Route } from './route.ts'

export interface Match<R extends Route> {
  route: R
  /** Reads the parameters. @throws `not_found` for an id of an impossible shape, after the route has said how errors look */
  params(): Record<string, string>
}

export type Router<R extends Route> = (method: string, path: string) => Match<R>

interface Compiled<R extends Route> {
  route: R
  keys: string[]
  pattern: RegExp
}

/**
 * Creates the function that finds a request's endpoint. Unknown paths and ids of an impossible shape are `not_found`,
 * wrong methods `method_not_allowed`. Paths without parameters match first, whatever the method, so that `/apps/new` is
 * never an app's id.
 */
export const createMatcher = <R extends Route>(routes: readonly R[]): Router<R> => {
  const compiled = routes.map(compile).sort((a, b) => a.keys.length - b.keys.length)
  return (method, path) => {
    const found = compiled.find(({ pattern }) => pattern.test(path))
    const onPath = compiled.filter(({ route }) => route.path === found?.route.path)
    const matching = onPath.find(({ route }) => route.method === method)
    if (matching) return { route: matching.route, params: () => paramsOf(matching, path) }
    if (onPath.length === 0) {
      throw fail('not_found', { message: 'This path does not exist.', fix: 'Find the available paths in /docs.' })
    }
    const allowed = METHODS.filter((one) =>
      onPath.some(({ route }) => route.method === one || route.elsewhere?.includes(one)),
    ).flatMap((one) => (one === 'GET' ? ['GET', 'HEAD'] : one))
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
const compile = <R extends Route>(route: R): Compiled<R> => {
  const keys: string[] = []
  const segments = route.path.split('/').map((segment) => {
    const [, name, verb] = /^\{(\w+)\}(:\w+)?$/.exec(segment) ?? []
    if (name === undefined) return segment.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
    keys.push(name)
    return verb === undefined ? '([^/]+)' : `([^/:]+)${verb}`
  })
  return { route, keys, pattern: new RegExp(`^${segments.join('/')}${route.isFolder ? '/?' : ''}$`) }
}

const METHODS: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** Maximum length of a path parameter. No table key and no name is longer. */
const LONGEST = 200

const paramsOf = ({ route, keys, pattern }: Compiled<Route>, path: string): Record<string, string> => {
  const raw = pattern.exec(path)?.slice(1) ?? []
  return Object.fromEntries(
    keys.map((name, i) => {
      const value = decode(raw[i] ?? '')
      const kind = route.params[name]
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
