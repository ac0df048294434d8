import type { Endpoint, Method } from '#shared/http/endpoint.ts'
import { ConfigError } from './config.ts'

/** Method of a resource of the API. `ANY` are all methods that have no route of their own. */
export type Route = { path: string; method: Method | 'HEAD' | 'ANY'; function: string; streams: boolean }

/** Function that answers unknown paths with 404. It has the fewest capabilities. */
const NOBODYS = 'pages'

type Own = { function: string; streams: boolean }
type Serving = Own & { methods: Method[]; elsewhere: Method[] }
type Node = {
  path: string
  own?: Own
  /** Functions of the path. One that waits may share a path with one that doesn't. */
  serving: Serving[]
  children: Map<string, Node>
  /** Functions with endpoints here or below that a greedy route can serve. Endpoints that stream can't be served by one. */
  functions: Set<string>
  streams: boolean
  /** Functions with endpoints here or below that stream, and the number of those endpoints. */
  streaming: Set<string>
  streamed: number
}

/** Routes of a subtree. Undefined if the greedy route above covers it. */
type Plan = { cost: number; routes: Route[] }

const NOTHING: Plan = { cost: 0, routes: [] }

/**
 * Plans the fewest resources of the REST API that bring every path to its function, because an API and a stack hold a limited number.
 *
 * API Gateway picks the most specific resource and doesn't backtrack. If `/tools/{name}/invoke` exists, `/tools/{name}/other` ends at
 * `/tools/{name}`, where the gateway refuses it with a 403. Each resource therefore answers any method and has a greedy child. The
 * child's function is the one that leaves the fewest paths below in need of separate resources. A resource has only one variable child,
 * however the endpoints name it. A greedy route doesn't stream, except below a path under which one function serves several endpoints
 * and all of them wait. A call that waits may share its path with others: its method has a route of its own.
 *
 * @throws {ConfigError} if two functions serve one path, unless one of them waits and the other declares its methods
 */
export function planRoutes(requestFunctions: Record<string, Endpoint[]>): Route[] {
  const root = node('/')
  const served = new Set<Node>()
  for (const [name, endpoints] of Object.entries(requestFunctions)) {
    for (const { path, method, waits, elsewhere = [] } of endpoints) {
      const place = placeOf(root, path, name, waits === true)
      served.add(place)
      let serving = place.serving.find((one) => one.function === name)
      if (serving === undefined) {
        serving = { function: name, streams: waits === true, methods: [], elsewhere: [] }
        place.serving.push(serving)
      }
      serving.methods.push(method)
      serving.elsewhere.push(...elsewhere)
    }
  }
  for (const place of served) place.own = ownOf(place)
  root.own ??= { function: NOBODYS, streams: false }
  return resource(root, NOBODYS, [NOBODYS]).routes
}

/** Returns the function that answers all methods of a path that have no route of their own. */
function ownOf({ path, serving }: Node): Own {
  const [first, second, ...more] = [...serving].sort((a, b) => Number(a.streams) - Number(b.streams)) as [
    Serving,
    ...Serving[],
  ]
  if (second === undefined) return first
  const shared = more.length === 0 && !first.streams && second.streams
  if (!shared || second.methods.some((method) => !first.elsewhere.includes(method))) {
    throw new ConfigError(`${path}: ${first.function} and ${second.function} both serve it`)
  }
  return first
}

/** Returns the routes of a node's own path. */
const routesOf = ({ path, serving }: Node, own: Own): Route[] => [
  { path, method: 'ANY', function: own.function, streams: own.streams },
  ...serving
    .filter((one) => one.function !== own.function)
    .flatMap((one) =>
      one.methods
        .flatMap((method) => (method === 'GET' ? (['GET', 'HEAD'] as const) : [method]))
        .map((method) => ({ path, method, function: one.function, streams: one.streams })),
    ),
]

const node = (path: string): Node => ({
  path,
  serving: [],
  children: new Map(),
  functions: new Set(),
  streams: false,
  streaming: new Set(),
  streamed: 0,
})

/** Returns the node of a path and creates those that are missing. Each node on the way records what is below it. */
function placeOf(root: Node, path: string, name: string, streams: boolean): Node {
  let at = root
  note(at, name, streams)
  for (const segment of path.split('/').filter((part) => part !== '')) {
    const key = segment.startsWith('{') ? VARIABLE : segment
    const child = at.children.get(key) ?? node(`${at.path === '/' ? '' : at.path}/${key}`)
    at.children.set(key, child)
    at = child
    note(at, name, streams)
  }
  return at
}

/**
 * Name of every variable segment. Functions read the path itself, so the name doesn't matter. A different name would be a different
 * resource, which CloudFormation can't create next to the one that it replaces.
 */
const VARIABLE = '{id}'

const note = (at: Node, name: string, streams: boolean): void => {
  if (!streams) {
    at.functions.add(name)
    return
  }
  at.streams = true
  at.streaming.add(name)
  at.streamed++
}

/** Returns the function that serves everything here and below, if it streams all of it and that is more than one endpoint. */
const streamsAll = ({ functions, streaming, streamed, own }: Node): string | undefined =>
  functions.size === 0 && streaming.size === 1 && streamed > 1 && (own?.streams ?? true) ? [...streaming][0] : undefined

/** Plans the cheapest routes for a subtree below a greedy route to one of its functions. */
function below(at: Node, greedy: string): Plan {
  const all = streamsAll(at)
  if (all !== undefined) {
    const routes = [{ path: at.path, method: 'ANY' as const, function: all, streams: true }, greedyRoute(at, all, true)]
    return { cost: routes.length, routes }
  }
  if (!at.streams && at.functions.size === 1 && at.functions.has(greedy)) return NOTHING
  const choices = [greedy, ...[...at.functions].filter((name) => name !== greedy)]
  return resource(at, greedy, choices)
}

/** Plans a subtree with a resource at its top and the cheapest greedy child. */
function resource(at: Node, otherwise: string, choices: readonly string[]): Plan {
  const plans = choices.map((choice) => {
    const own = at.own ?? { function: choice, streams: false }
    const children = childrenOf(at, choice)
    const variable = children.get(VARIABLE)
    const rest = variable === undefined || variable === NOTHING ? [greedyRoute(at, choice)] : []
    const routes = [...routesOf(at, own), ...rest, ...[...children.values()].flatMap((child) => child.routes)]
    return { cost: routes.length, routes, choice }
  })
  return plans.reduce((best, plan) =>
    plan.cost < best.cost || (plan.cost === best.cost && plan.choice === otherwise) ? plan : best,
  )
}

/**
 * Plans the children of a node. A variable child with a resource would take the paths of siblings without one, so these get resources
 * too: `/files/folders` must not end at `/files/{id}`.
 */
function childrenOf(at: Node, greedy: string): Map<string, Plan> {
  const variable = at.children.get(VARIABLE)
  const ahead = variable !== undefined && below(variable, greedy) !== NOTHING
  return new Map(
    [...at.children].map(([key, child]) => {
      const plan = below(child, greedy)
      return [key, ahead && plan === NOTHING ? resource(child, greedy, [greedy]) : plan]
    }),
  )
}

const greedyRoute = (at: Node, name: string, streams = false): Route => ({
  path: `${at.path === '/' ? '' : at.path}/{proxy+}`,
  method: 'ANY',
  function: name,
  streams,
})
