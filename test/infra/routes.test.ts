import { describe, expect, it } from 'vitest'
import { planRoutes } from '#infra/routes.ts'
import type { Endpoint } from '#shared/http/endpoint.ts'
import { readText } from '#test/record/recordings.ts'
import { functionsOf, plans, type Resource, registry, resources, synthesize } from './support.ts'
import { variablesOf } from './variable-paths.ts'

type Method = { function: string; mode: string | undefined; milliseconds: number | undefined }
type Node = { children: Map<string, Node>; methods: Map<string, Method> }

/** The API as deployed: a tree of resources, read from the template. */
function deployedTree(context = {}): Node {
  const { service, routes } = synthesize(context)
  const names = new Map([...functionsOf(service)].map(([name, { id }]) => [id, name]))
  const nodes = new Map<string, Node>()
  const api = resources(service, 'AWS::ApiGateway::RestApi')[0]?.[0] as string
  const nodeOf = (id: string): Node => {
    const known = nodes.get(id)
    if (known !== undefined) return known
    const node: Node = { children: new Map(), methods: new Map() }
    nodes.set(id, node)
    return node
  }
  const idOf = (reference: Record<string, unknown>) => (reference.Ref as string | undefined) ?? api
  for (const [id, { Properties }] of resources(routes, 'AWS::ApiGateway::Resource')) {
    const siblings = nodeOf(idOf(Properties.ParentId)).children
    if (Properties.PathPart.startsWith('{'))
      expect([...siblings.keys()].filter((part) => part.startsWith('{'))).toEqual([])
    siblings.set(Properties.PathPart, nodeOf(id))
  }
  for (const [, { Properties }] of resources(routes, 'AWS::ApiGateway::Method') as [string, Resource][]) {
    const target = [...names.keys()].find((id) =>
      JSON.stringify(Properties.Integration.Uri).includes(`"${id}Live`),
    ) as string
    nodeOf(idOf(Properties.ResourceId)).methods.set(Properties.HttpMethod, {
      function: names.get(target) as string,
      mode: Properties.Integration.ResponseTransferMode,
      milliseconds: Properties.Integration.TimeoutInMillis,
    })
  }
  return nodeOf(api)
}

/** Routes as API Gateway does: literals before variables before greedy ones, without backtracking. */
function resolve(tree: Node, path: string, method = 'OPTIONS'): Method | undefined {
  const served = (at?: Node) => at?.methods.get(method) ?? at?.methods.get('ANY')
  let node = tree
  for (const segment of path.split('/').filter((part) => part !== '')) {
    const parts = [...node.children.keys()]
    const greedy = parts.find((part) => part.endsWith('+}'))
    const variable = parts.find((part) => part.startsWith('{') && part !== greedy)
    const next = node.children.get(segment) ?? (variable !== undefined ? node.children.get(variable) : undefined)
    if (next === undefined) return greedy === undefined ? undefined : served(node.children.get(greedy))
    node = next
  }
  return served(node)
}

const tree = deployedTree()
const all = Object.entries(registry.requestFunctions).flatMap(([name, endpoints]) =>
  endpoints.map((endpoint) => ({ name, endpoint })),
)
const concrete = (path: string) => path.replaceAll(/\{[^}]+\}/g, 'a_value')

describe('the routing of the gateway', () => {
  it.each(all.map(({ name, endpoint }) => ({ id: endpoint.id, name, endpoint })))(
    '$id reaches $name',
    ({ name, endpoint: { path, method } }) => {
      const methods = method === 'GET' ? [method, 'HEAD'] : [method]
      for (const one of methods) expect(resolve(tree, concrete(path), one)?.function).toBe(name)
    },
  )

  it('takes every path without an endpoint to a function', () => {
    const paths = all.flatMap(({ endpoint }) => {
      const segments = concrete(endpoint.path).split('/')
      return segments.flatMap((_, index) => {
        const start = segments.slice(0, index + 1).join('/')
        return [start, `${start}/unknown`, `${start}/unknown/deeper/still`]
      })
    })
    expect([...new Set(paths)].filter((path) => resolve(tree, path) === undefined)).toEqual([])
  })

  it('takes a path next to or below a long-running call to another kind of function', () => {
    const waiting = new Set(plans.filter(({ waits }) => waits).map(({ name }) => name))
    const served = new Set(all.map(({ endpoint }) => concrete(endpoint.path)))
    // Everything below these is streamed, so one greedy route serves each.
    const alone = all.filter(({ endpoint: { waits, path } }) => waits === true && !/^\/(a2a|mcp|packages)/.test(path))
    for (const { endpoint } of alone) {
      const path = concrete(endpoint.path)
      // A variable has no siblings.
      const beside = endpoint.path.endsWith('}') ? [] : [path.replace(/[^/]+$/, 'other')]
      for (const other of [`${path}/more`, ...beside].filter((one) => !served.has(one)))
        expect(waiting).not.toContain(resolve(tree, other)?.function)
    }
  })

  it('streams only the answers of long-running calls, and the packages', () => {
    for (const { endpoint } of all) {
      expect(resolve(tree, concrete(endpoint.path), endpoint.method)?.mode ?? 'BUFFERED').toBe(
        endpoint.waits === true ? 'STREAM' : 'BUFFERED',
      )
    }
  })

  it('waits for long-running calls as long as their functions run, instead of the default 29 seconds', () => {
    for (const { endpoint, name } of all) {
      const seconds = plans.find((plan) => plan.name === name)?.timeoutSeconds ?? 0
      const { milliseconds } = resolve(tree, concrete(endpoint.path), endpoint.method) ?? {}
      expect(milliseconds).toBe(endpoint.waits === true ? seconds * 1_000 : undefined)
    }
  })

  it('keeps each path variable greedy or one segment, because an update that changes it fails (docs/deploy.md)', () => {
    const pathsBelow = (node: Node, path = ''): string[] =>
      [...node.children].flatMap(([part, child]) => [`${path}/${part}`, ...pathsBelow(child, `${path}/${part}`)])
    // Added or removed lines are new or removed endpoints: run `npm run record -- paths`. A changed line requires deleting the old
    // resource by hand in every deployed stage.
    expect(variablesOf(pathsBelow(tree))).toBe(readText('test/infra/variable-paths.txt'))
  })

  it.each([
    ['oauth', '/oauth/brand-new'],
    ['api', '/api/v1/brand-new/{id}/parts'],
    ['api', '/api/v1/runs/{id}/brand-new'],
    ['files', '/api/v1/files/{id}/brand-new'],
    ['developer', '/api/v1/dev/brand-new'],
    ['developer', '/api/v1/dev/apps/{id}/brand-new/{part}'],
    ['console', '/console/brand-new/{id}'],
    ['console', '/console/installations/{id}/brand-new'],
    ['messengers', '/console/messenger/brand-new'],
    ['admin', '/admin/brand-new/{id}/parts'],
    ['admin', '/admin/apps/{id}/brand-new'],
    ['pages', '/docs/{page}/brand-new'],
  ])('needs no new resource for an endpoint of %s at %s', (name, path) => {
    const endpoint = { id: `${name}.new`, path } as unknown as Endpoint
    const { requestFunctions } = registry
    const more = { ...requestFunctions, [name]: [...(requestFunctions[name] ?? []), endpoint] }
    expect(planRoutes(more)).toEqual(planRoutes(requestFunctions))
  })

  it('answers every method of every resource', () => {
    const resourcesBelow = (node: Node): Node[] => [node, ...[...node.children.values()].flatMap(resourcesBelow)]
    expect(resourcesBelow(tree).filter(({ methods }) => methods.size > 0 && !methods.has('ANY'))).toEqual([])
  })

  it('gives a call that waits its method of a shared path, which the function of the other methods must declare', () => {
    expect(resolve(tree, '/api/v1/runs', 'POST')).toMatchObject({ function: 'api-calls', mode: 'STREAM' })
    expect(resolve(tree, '/api/v1/runs', 'GET')).toMatchObject({ function: 'api', mode: undefined })
    const silent = (registry.requestFunctions.api ?? []).map(({ elsewhere: _, ...endpoint }) => endpoint as Endpoint)
    expect(() => planRoutes({ ...registry.requestFunctions, api: silent })).toThrow('api and api-calls both serve it')
  })

  it('streams nothing on an emulator', () => {
    const buffered = deployedTree({ stage: 'emulator' })
    for (const { endpoint } of all)
      expect(resolve(buffered, concrete(endpoint.path), endpoint.method)?.mode ?? 'BUFFERED').toBe('BUFFERED')
  })

  it('invokes each function by one permission', () => {
    const { service, routes } = synthesize()
    const permissions = [service, routes]
      .flatMap((template) => resources(template, 'AWS::Lambda::Permission'))
      .filter(([, { Properties }]) => Properties.Principal === 'apigateway.amazonaws.com')
    const targets = permissions.map(([, { Properties }]) => JSON.stringify(Properties.FunctionName))
    expect(new Set(targets).size).toBe(targets.length)
    // One more for the WebSocket API.
    expect(targets).toHaveLength(Object.keys(registry.requestFunctions).length + 1)
  })

  it.each(['/console/session', '/api/v1/tools/{name}/invoke'])('refuses two functions that serve %s', (path) => {
    const endpoint = { id: 'admin.misplaced', path } as unknown as Endpoint
    expect(() => planRoutes({ ...registry.requestFunctions, admin: [endpoint] })).toThrow(/\S+ and \S+ both serve it/)
  })
})
