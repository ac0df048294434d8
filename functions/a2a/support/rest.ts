import * as z from 'zod'
import { defineEndpoint, type Endpoint } from '#shared/http/endpoint.ts'
import { fromProtoJson, fromQuery } from '#shared/kernel/a2a-json.ts'
import { ASKING, followed, NOTHING_FOLLOWS } from './declaration.ts'
import { perform, show } from './perform.ts'
import { requireVersion, sceneFor, type Version } from './scene.ts'
import { OPERATIONS, type Operation } from './table.ts'

type Json = Record<string, unknown>

const VERSIONS = {
  '1.0': {
    at: '/a2a/agents/{id}',
    speaks: 'a2a',
    produces: ['application/json', 'application/a2a+json'],
    object: () => z.looseObject({}).meta({ id: 'A2aObject', description: 'An object of A2A 1.0.' }),
  },
  '0.3': {
    at: '/a2a/agents/{id}/v0.3/v1',
    speaks: 'a2a-0.3',
    produces: undefined,
    object: () => z.looseObject({}).meta({ id: 'A2aLegacyObject', description: 'An object of A2A 0.3.' }),
  },
} as const

/** Parameters of an operation: those of the query and the body, and the task and configuration of the path. */
const paramsOf = (
  { task: field }: Operation,
  { task, config }: Record<string, string>,
  query: readonly [string, string][],
  body: unknown,
): Json => ({
  ...fromQuery(query),
  ...fromProtoJson('Params', (body ?? {}) as Json),
  ...(field && { [field]: task }),
  ...(config !== undefined && { id: config }),
})

const endpointOf = (operation: Operation, version: Version): Endpoint[] => {
  const offer = operation[version]
  if (!offer) return []
  const { at, speaks, produces, object } = VERSIONS[version]
  const { id, path, summary, description } = offer
  const { verb, scope, task } = operation
  const asShown = (element: Json): Json => show(operation, version, 'proto', element) as Json
  const endpoint = defineEndpoint({
    ...ASKING,
    id,
    method: verb,
    path: `${at}${path}`,
    speaks,
    scope,
    summary,
    ...(description && { description }),
    params: {
      id: 'installation',
      ...(task && { task: 'text' as const }),
      ...(path.includes('{config}') && { config: 'text' as const }),
    },
    ...(verb === 'POST' && { body: (version === '1.0' && operation['1.0'].body) || object }),
    ...('answer' in operation ? { response: object, ...(produces && { produces }) } : followed(asShown)),
    ...('events' in operation && verb === 'GET' && { orNothing: NOTHING_FOLLOWS }),
    handler: async ({ work, caller, params, body, request: { headers, rawQuery } }) => {
      const scene = await sceneFor(work, caller, String(params.id))
      requireVersion(headers, rawQuery, version)
      const asking = { work, caller, scene, headers }
      const given = paramsOf(operation, params as Record<string, string>, rawQuery, body)
      return perform(operation, asking, given, version, 'proto', (answer) => answer as Json)
    },
  })
  return [endpoint]
}

/** Declares the endpoints of the HTTP+JSON binding of a version. */
export const restEndpoints = (version: Version): Endpoint[] =>
  OPERATIONS.flatMap((operation) => endpointOf(operation, version))
