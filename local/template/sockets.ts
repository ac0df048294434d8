import type { Resolved } from './api.ts'
import { required, text } from './fields.ts'
import type { SocketsModel } from './model.ts'
import { REGION, withoutQualifier } from './physical.ts'

/** Reads the WebSocket API: the functions behind its routes. */
export const readSockets = (resources: Resolved[]): SocketsModel | undefined => {
  const api = resources.find(({ type, properties }) => isApi(type) && properties.ProtocolType === 'WEBSOCKET')
  if (!api) return undefined
  const own = resources.filter(({ properties }) => properties.ApiId === api.name)
  const functions = new Map(
    own
      .filter(({ type }) => type === 'AWS::ApiGatewayV2::Integration')
      .map(({ name, logicalId, properties }) => {
        const called = text(properties.IntegrationUri)?.match(/\/functions\/(arn:[^/]+)\//)?.[1]
        return [name, withoutQualifier(required(called, `the function of ${logicalId}`))]
      }),
  )
  const routes = new Map(
    own
      .filter(({ type }) => type === 'AWS::ApiGatewayV2::Route')
      .map(({ logicalId, properties }) => {
        const target = text(properties.Target)?.replace(/^integrations\//, '') ?? ''
        return [String(properties.RouteKey), required(functions.get(target), `the integration of ${logicalId}`)]
      }),
  )
  const stage = text(own.find(({ type }) => type === 'AWS::ApiGatewayV2::Stage')?.properties.StageName) ?? 'local'
  return { id: api.name, stage, url: `wss://${api.name}.execute-api.${REGION}.amazonaws.com/${stage}`, routes }
}

const isApi = (type: string): boolean => type === 'AWS::ApiGatewayV2::Api'
