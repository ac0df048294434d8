import type { ApiModel, MethodModel, ResourceModel } from '../template/model.ts'

/** The resource that serves a request, and its method. */
export interface Match {
  resource: ResourceModel
  method: MethodModel
  /** As sent, still percent-encoded, as REST APIs pass them on; `null` if there are none. */
  parameters: Record<string, string> | null
}

interface Node {
  fixed: Map<string, Node>
  parameter: { name: string; node: Node } | undefined
  greedy: { name: string; resource: ResourceModel } | undefined
  resource: ResourceModel | undefined
}

const newNode = (): Node => ({ fixed: new Map(), parameter: undefined, greedy: undefined, resource: undefined })

const segmentsOf = (path: string): string[] => path.split('/').filter((segment) => segment !== '')

const insert = (root: Node, resource: ResourceModel) => {
  let node = root
  for (const segment of segmentsOf(resource.path)) {
    const greedy = /^\{(.+)\+\}$/.exec(segment)?.[1]
    if (greedy) {
      node.greedy = { name: greedy, resource }
      return
    }
    const name = /^\{(.+)\}$/.exec(segment)?.[1]
    if (name) {
      node.parameter ??= { name, node: newNode() }
      node = node.parameter.node
      continue
    }
    const next = node.fixed.get(segment) ?? newNode()
    node.fixed.set(segment, next)
    node = next
  }
  node.resource = resource
}

/** Returns the resource's method, or its `ANY`. */
const served = (resource: ResourceModel | undefined, verb: string): Match | undefined => {
  const method = resource && (resource.methods.get(verb) ?? resource.methods.get('ANY'))
  return resource && method && { resource, method, parameters: null }
}

const search = (node: Node, rest: string[], verb: string): Match | undefined => {
  const [segment, ...others] = rest
  if (segment === undefined) return served(node.resource, verb)
  const fixed = node.fixed.get(segment)
  const exact = fixed && search(fixed, others, verb)
  if (exact) return exact
  const inner = node.parameter && search(node.parameter.node, others, verb)
  if (inner && node.parameter) {
    return { ...inner, parameters: { [node.parameter.name]: segment, ...inner.parameters } }
  }
  const greedy = served(node.greedy?.resource, verb)
  return greedy && node.greedy && { ...greedy, parameters: { [node.greedy.name]: rest.join('/') } }
}

/**
 * Creates the function that finds the most specific resource with the method (or `ANY`) for a path. A fixed segment
 * comes before `{name}`, and that before `{proxy+}`. A more specific resource without the method does not hide a less
 * specific one that has it (measured on AWS: github.com/floci-io/floci/pull/3399,
 * github.com/ministackorg/ministack/pull/1423).
 *
 * @returns a function of path and method; `undefined` from it is the gateway's own "Missing Authentication Token"
 */
export const createMatcher = (api: ApiModel) => {
  const root = newNode()
  for (const resource of api.resources) insert(root, resource)
  return (path: string, method: string): Match | undefined => search(root, segmentsOf(path), method)
}
