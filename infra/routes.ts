import type { Endpoint } from '#shared/http/endpoint.ts'
import { ConfigError } from './config.ts'

/** A resource of the API: its path, whose function answers it with any method, and how. */
export type Route = { path: string; function: string; streams: boolean }

/** Who answers what nobody has: the documentation's function, with 404. */
const NOBODYS = 'docs'

type Own = { function: string; streams: boolean }
type Node = {
  path: string
  own?: Own
  children: Map<string, Node>
  /** Whose endpoints are here or below, as far as they can take a greedy route: one that streams can't. */
  functions: Set<string>
  streams: boolean
}

/** A subtree's routes. Undefined where the greedy route above takes it all. */
type Plan = { cost: number; routes: Route[] }

const NOTHING: Plan = { cost: 0, routes: [] }

/**
 * The resources of the REST API: as few as take every path to its function, because an API and a stack hold a limited number.
 *
 * API Gateway goes to the most specific resource and does not turn back: where `/tools/{name}/invoke` exists, `/tools/{name}/other`
 * ends at `/tools/{name}` and is refused there with a 403 of its own. So every resource answers any method itself and has a greedy
 * child, whose function is the one that leaves the fewest paths below in need of resources of their own; and a resource has one
 * variable child only, whatever the endpoints call it. A greedy route never streams.
 *
 * @throws {ConfigError} if two functions serve one path.
 */
export function planRoutes(requestFunctions: Record<string, Endpoint[]>): Route[] {
  const root = node('/')
  for (const [name, endpoints] of Object.entries(requestFunctions)) {
    for (const { path, waits } of endpoints) {
      const place = placeOf(root, path, name, waits === true)
      if (place.own && place.own.function !== name) {
        throw new ConfigError(`${path}: functions/${place.own.function} and functions/${name} both serve it`)
      }
      place.own = { function: name, streams: waits === true }
    }
  }
  root.own ??= { function: NOBODYS, streams: false }
  return resource(root, NOBODYS, [NOBODYS]).routes
}

const node = (path: string): Node => ({ path, children: new Map(), functions: new Set(), streams: false })

/** The node of a path, made with all on the way to it; each learns what is to be found below. */
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
 * A variable segment, whatever the endpoints call it: functions read the path itself. Another name would be another resource, which
 * CloudFormation cannot put beside the one that it replaces.
 */
const VARIABLE = '{id}'

const note = (at: Node, name: string, streams: boolean): void => {
  if (streams) at.streams = true
  else at.functions.add(name)
}

/** The cheapest way to bring a subtree to its functions below a greedy route to one of them. */
function below(at: Node, greedy: string): Plan {
  if (!at.streams && at.functions.size === 1 && at.functions.has(greedy)) return NOTHING
  const choices = [greedy, ...[...at.functions].filter((name) => name !== greedy)]
  return resource(at, greedy, choices)
}

/** A subtree with a resource of its own at its top, and the greedy child that costs least. */
function resource(at: Node, otherwise: string, choices: readonly string[]): Plan {
  const plans = choices.map((choice) => {
    const own = at.own ?? { function: choice, streams: false }
    const children = childrenOf(at, choice)
    const variable = children.get(VARIABLE)
    const rest = variable === undefined || variable === NOTHING ? [greedyRoute(at, choice)] : []
    const routes = [{ path: at.path, ...own }, ...rest, ...[...children.values()].flatMap((child) => child.routes)]
    return { cost: routes.length, routes, choice }
  })
  return plans.reduce((best, plan) =>
    plan.cost < best.cost || (plan.cost === best.cost && plan.choice === otherwise) ? plan : best,
  )
}

/**
 * A variable child with a resource takes what its siblings have none for, so they get theirs: `/files/folders` is not to end
 * at `/files/{id}`.
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

const greedyRoute = (at: Node, name: string): Route => ({
  path: `${at.path === '/' ? '' : at.path}/{proxy+}`,
  function: name,
  streams: false,
})
