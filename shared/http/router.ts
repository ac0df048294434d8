import { addRoute, createRouter, findRoute } from 'rou3'
import { fail } from '../kernel/errors.ts'
import { isId } from '../kernel/ids.ts'
import type { Endpoint, Method } from './endpoint.ts'

export interface Match {
  endpoint: Endpoint
  params: Record<string, string>
}

export type Router = (method: string, path: string) => Match

const METHODS: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** Finds the endpoint of a request. Unknown paths and ids of an impossible shape are `not_found`, wrong methods `method_not_allowed`. */
export const createMatcher = (endpoints: readonly Endpoint[]): Router => {
  const router = createRouter<Endpoint>()
  for (const endpoint of endpoints) addRoute(router, endpoint.method, endpoint.path.replaceAll(/\{(\w+)\}/g, ':$1'), endpoint)
  return (method, path) => {
    const found = findRoute(router, method, path)
    if (!found) {
      const allowed = METHODS.filter((other) => findRoute(router, other, path))
      if (allowed.length === 0) throw fail('not_found', { message: 'There is no such path.', fix: 'See /docs for every path.' })
      throw fail('method_not_allowed', {
        message: `This path does not take ${method.slice(0, 20)}.`,
        headers: { allow: allowed.join(', ') },
      })
    }
    const params: Record<string, string> = {}
    for (const [name, raw] of Object.entries(found.params ?? {})) {
      const value = decode(raw)
      const kind = found.data.params[name]
      if (value === undefined || (kind && kind !== 'text' && !isId(kind, value))) throw fail('not_found')
      params[name] = value
    }
    return { endpoint: found.data, params }
  }
}

const decode = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
