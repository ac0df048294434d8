import type { Endpoint } from '#shared/http/endpoint.ts'
import { ConfigError } from './config.ts'

/** A resource of the API: its path, whose function answers it with any method, and how. */
export type Route = { path: string; function: string; streams: boolean }

/** Whose every path below an address is. The longest prefix wins; what nobody owns is the documentation's, which answers 404. */
const OWNERS: Record<string, string> = {
  '/': 'docs',
  '/oauth': 'oauth',
  '/api/v1': 'api',
  '/api/v1/dev': 'developer',
  '/console': 'console',
  '/admin': 'admin',
}

type Node = { path: string; own?: { function: string; streams: boolean }; children: Map<string, Node> }

/**
 * The resources of the REST API.
 *
 * API Gateway goes to the most specific resource and does not turn back: where `/tools/{name}/invoke` exists, `/tools/{name}/other`
 * ends at `/tools/{name}` and is refused there with a 403 of its own. So each node on the way to an exact path answers any method
 * itself and has a greedy child, both with the function that owns the path; and a node has one variable child only, whatever the
 * endpoints call it.
 *
 * An endpoint that another function than its prefix's serves gets an exact path of its own, with all of that path's methods.
 *
 * @throws {ConfigError} if two functions serve one path.
 */
export function planRoutes(requestFunctions: Record<string, Endpoint[]>): Route[] {
  const root: Node = { path: '/', children: new Map() }
  const insert = (path: string): Node => {
    let node = root
    for (const [key, segment] of segmentsOf(path)) {
      const child = node.children.get(key) ?? {
        path: `${node.path === '/' ? '' : node.path}/${segment}`,
        children: new Map(),
      }
      node.children.set(key, child)
      node = child
    }
    return node
  }
  for (const prefix of Object.keys(OWNERS)) insert(prefix)
  for (const [name, endpoints] of Object.entries(requestFunctions)) {
    for (const endpoint of endpoints) {
      const streams = endpoint.waits === true
      if (!streams && owner(endpoint.path) === name) continue
      insert(endpoint.path).own = { function: name, streams }
    }
  }
  for (const [name, endpoints] of Object.entries(requestFunctions)) {
    for (const { path } of endpoints) {
      const own = find(root, path)?.own
      if (!own || own.function === name) continue
      throw new ConfigError(`${path}: functions/${own.function} and functions/${name} both serve it`)
    }
  }
  return collect(root)
}

/** The segments of a path, each behind its key among a node's children: a variable's name makes no difference. */
const segmentsOf = (path: string): [key: string, segment: string][] =>
  path
    .split('/')
    .filter((part) => part !== '')
    .map((segment) => [segment.startsWith('{') ? '{}' : segment, segment])

const find = (root: Node, path: string): Node | undefined =>
  segmentsOf(path).reduce<Node | undefined>((node, [key]) => node?.children.get(key), root)

function collect(node: Node): Route[] {
  const routes: Route[] = [{ path: node.path, ...(node.own ?? { function: owner(node.path), streams: false }) }]
  if (!node.children.has('{}')) {
    routes.push({ path: `${node.path === '/' ? '' : node.path}/{proxy+}`, function: owner(node.path), streams: false })
  }
  return [...routes, ...[...node.children.values()].flatMap(collect)]
}

function owner(path: string): string {
  const prefixes = Object.keys(OWNERS).filter(
    (prefix) => prefix === '/' || path === prefix || path.startsWith(`${prefix}/`),
  )
  const longest = prefixes.reduce((a, b) => (b.length > a.length ? b : a))
  return OWNERS[longest] as string
}
