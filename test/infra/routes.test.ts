import { describe, expect, it } from 'vitest'
import { planRoutes } from '#infra/routes.ts'
import type { Endpoint } from '#shared/http/endpoint.ts'
import { functionsOf, plans, type Resource, registry, resources, synthesize } from './support.ts'

type Method = { function: string; mode: string | undefined; milliseconds: number | undefined }
type Node = { children: Map<string, Node>; any?: Method }

/** The API as it is deployed: a tree of resources, read from the template. */
function deployedTree(context = {}): Node {
  const { service, routes } = synthesize(context)
  const names = new Map([...functionsOf(service)].map(([name, { id }]) => [id, name]))
  const nodes = new Map<string, Node>()
  const api = resources(service, 'AWS::ApiGateway::RestApi')[0]?.[0] as string
  const nodeOf = (id: string): Node => {
    const known = nodes.get(id)
    if (known !== undefined) return known
    const node: Node = { children: new Map() }
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
    expect(Properties.HttpMethod).toBe('ANY')
    const target = [...names.keys()].find((id) =>
      JSON.stringify(Properties.Integration.Uri).includes(`"${id}Live`),
    ) as string
    nodeOf(idOf(Properties.ResourceId)).any = {
      function: names.get(target) as string,
      mode: Properties.Integration.ResponseTransferMode,
      milliseconds: Properties.Integration.TimeoutInMillis,
    }
  }
  return nodeOf(api)
}

/** Goes the way that API Gateway goes: a literal before a variable before a greedy one, and never back. */
function resolve(tree: Node, path: string): Method | undefined {
  let node = tree
  for (const segment of path.split('/').filter((part) => part !== '')) {
    const parts = [...node.children.keys()]
    const greedy = parts.find((part) => part.endsWith('+}'))
    const variable = parts.find((part) => part.startsWith('{') && part !== greedy)
    const next = node.children.get(segment) ?? (variable !== undefined ? node.children.get(variable) : undefined)
    if (next === undefined) return greedy === undefined ? undefined : node.children.get(greedy)?.any
    node = next
  }
  return node.any
}

const tree = deployedTree()
const all = Object.entries(registry.requestFunctions).flatMap(([name, endpoints]) =>
  endpoints.map((endpoint) => ({ name, endpoint })),
)
const concrete = (path: string) => path.replaceAll(/\{[^}]+\}/g, 'a_value')

describe('where the gateway takes a request', () => {
  it.each(all.map(({ name, endpoint }) => ({ id: endpoint.id, name, path: concrete(endpoint.path) })))(
    '$id reaches functions/$name',
    ({ name, path }) => expect(resolve(tree, path)?.function).toBe(name),
  )

  it('takes what no endpoint has, everywhere, to a function', () => {
    const paths = all.flatMap(({ endpoint }) => {
      const segments = concrete(endpoint.path).split('/')
      return segments.flatMap((_, index) => {
        const start = segments.slice(0, index + 1).join('/')
        return [start, `${start}/unknown`, `${start}/unknown/deeper/still`]
      })
    })
    expect([...new Set(paths)].filter((path) => resolve(tree, path) === undefined)).toEqual([])
  })

  it('takes a path beside or below a call that waits to a function that does not', () => {
    const waiting = new Set(plans.filter(({ waits }) => waits).map(({ name }) => name))
    const served = new Set(all.map(({ endpoint }) => concrete(endpoint.path)))
    for (const { endpoint } of all.filter((item) => item.endpoint.waits === true)) {
      const path = concrete(endpoint.path)
      // Beside a variable there is nothing else.
      const beside = endpoint.path.endsWith('}') ? [] : [path.replace(/[^/]+$/, 'other')]
      for (const other of [`${path}/more`, ...beside].filter((one) => !served.has(one)))
        expect(waiting).not.toContain(resolve(tree, other)?.function)
    }
  })

  it('streams the answers of calls that wait, and no others', () => {
    for (const { endpoint } of all) {
      expect(resolve(tree, concrete(endpoint.path))?.mode ?? 'BUFFERED').toBe(
        endpoint.waits === true ? 'STREAM' : 'BUFFERED',
      )
    }
  })

  it('waits for calls that wait as long as their functions run; without a word it would be 29 seconds', () => {
    for (const { endpoint, name } of all) {
      const seconds = plans.find((plan) => plan.name === name)?.timeoutSeconds ?? 0
      const { milliseconds } = resolve(tree, concrete(endpoint.path)) ?? {}
      expect(milliseconds).toBe(endpoint.waits === true ? seconds * 1_000 : undefined)
    }
  })

  it('keeps what a path’s variable part is, greedy or one segment: an update that changes it fails (docs/deploy.md)', async () => {
    const kinds = (node: Node, path = ''): string[] =>
      [...node.children].flatMap(([part, child]) => [
        ...(part.startsWith('{') ? [`${path || '/'} ${part}`] : []),
        ...kinds(child, `${path}/${part}`),
      ])
    // A line more or less is an endpoint that comes or goes: `npx vitest run test/infra/routes.test.ts -u`. A line that has
    // changed wants the old resource deleted by hand in every stage that is deployed.
    await expect(`${kinds(tree).sort().join('\n')}\n`).toMatchFileSnapshot('variable-paths.txt')
  })

  it('streams nothing for an emulator', () => {
    const buffered = deployedTree({ stage: 'emulator' })
    for (const { endpoint } of all)
      expect(resolve(buffered, concrete(endpoint.path))?.mode ?? 'BUFFERED').toBe('BUFFERED')
  })

  it('invokes each function by one permission', () => {
    const { routes } = synthesize()
    const permissions = resources(routes, 'AWS::Lambda::Permission').filter(
      ([, { Properties }]) => Properties.Principal === 'apigateway.amazonaws.com',
    )
    const targets = permissions.map(([, { Properties }]) => JSON.stringify(Properties.FunctionName))
    expect(new Set(targets).size).toBe(targets.length)
    expect(targets).toHaveLength(Object.keys(registry.requestFunctions).length)
  })

  it.each(['/console/session', '/api/v1/tools/{name}/invoke'])('refuses that two functions serve %s', (path) => {
    const endpoint = { id: 'admin.misplaced', path } as unknown as Endpoint
    expect(() => planRoutes({ ...registry.requestFunctions, admin: [endpoint] })).toThrow(
      /and functions\/\S+ both serve it/,
    )
  })
})
