import { list, number, object, type Props, required, text, texts } from './fields.ts'
import type { ApiModel, GatewayResponseModel, MethodModel, ResourceModel } from './model.ts'
import { REGION, withoutQualifier } from './physical.ts'

/** A resource of the template, resolved. */
export interface Resolved {
  stack: string
  logicalId: string
  type: string
  /** Physical name. */
  name: string
  properties: Props
  metadata: Props
}

/** Default integration timeout, also for a stream. */
const LIMIT_MS = 29_000

const methodOf = (properties: Props): MethodModel => {
  const integration = object(properties.Integration)
  const streamed = integration.ResponseTransferMode === 'STREAM'
  const called = text(integration.Uri)?.match(/\/functions\/(arn:[^/]+)\//)?.[1]
  return {
    functionArn: called && withoutQualifier(called),
    streamed,
    timeoutMs: number(integration.TimeoutInMillis) ?? LIMIT_MS,
  }
}

const gatewayResponseOf = (properties: Props): GatewayResponseModel => ({
  statusCode: number(properties.StatusCode),
  headers: Object.fromEntries(
    Object.entries(object(properties.ResponseParameters)).map(([key, value]) => [
      key.replace('gatewayresponse.header.', ''),
      String(value),
    ]),
  ),
  templates: Object.fromEntries(
    Object.entries(object(properties.ResponseTemplates)).map(([type, template]) => [type, String(template)]),
  ),
})

/** Reads the REST API: its resources as full paths, the integrations behind them, its gateway responses. */
export const readApi = (resources: Resolved[]): ApiModel | undefined => {
  const api = resources.find((resource) => resource.type === 'AWS::ApiGateway::RestApi')
  if (!api) return undefined
  const own = resources.filter((resource) => resource.properties.RestApiId === api.name)
  const rootId = `${api.name}-root`
  const parts = new Map(
    own
      .filter((resource) => resource.type === 'AWS::ApiGateway::Resource')
      .map((resource) => [resource.name, resource.properties] as const),
  )
  const pathOf = (id: string): string => {
    const properties = parts.get(id)
    if (!properties) return ''
    return `${pathOf(required(text(properties.ParentId), `the parent of resource ${id}`))}/${properties.PathPart}`
  }
  const tree = new Map<string, ResourceModel>([[rootId, { id: rootId, path: '/', methods: new Map() }]])
  for (const id of parts.keys()) tree.set(id, { id, path: pathOf(id), methods: new Map() })
  for (const { type, logicalId, properties } of own) {
    if (type !== 'AWS::ApiGateway::Method') continue
    const resource = required(tree.get(String(properties.ResourceId)), `the resource of method ${logicalId}`)
    resource.methods.set(String(properties.HttpMethod), methodOf(properties))
  }
  const stage = own.find((resource) => resource.type === 'AWS::ApiGateway::Stage')
  const gatewayResponses = own.filter((resource) => resource.type === 'AWS::ApiGateway::GatewayResponse')
  const stageName = text(stage?.properties.StageName) ?? 'local'
  return {
    id: api.name,
    stage: stageName,
    url: `https://${api.name}.execute-api.${REGION}.amazonaws.com/${stageName}`,
    binaryMediaTypes: texts(list(api.properties.BinaryMediaTypes)),
    resources: [...tree.values()],
    gatewayResponses: new Map(
      gatewayResponses.map(({ properties }) => [String(properties.ResponseType), gatewayResponseOf(properties)]),
    ),
  }
}
