import { Stack } from 'aws-cdk-lib'
import { CfnApi, CfnIntegration, CfnRoute, CfnStage } from 'aws-cdk-lib/aws-apigatewayv2'
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { LogGroup } from 'aws-cdk-lib/aws-logs'
import type { Construct, IDependable } from 'constructs'
import { apiStage } from './api.ts'
import type { Config } from './config.ts'
import { encryption } from './encryption.ts'
import type { PlatformFunction } from './functions.ts'
import { acknowledge } from './nag.ts'
import { retention } from './retention.ts'

/** Address and permissions of the WebSocket API. */
export type Sockets = {
  api: CfnApi
  /** Address that pages connect to. */
  url: string
  /** ARN of all of its connections, for an action on them. */
  connections: (action: 'POST' | 'DELETE') => string
}

/**
 * Creates the WebSocket API without routes. Its address is built from its id and the literal stage name, as that of the REST API is:
 * functions get it, and the routes depend on a function.
 */
export function createSockets(scope: Construct, config: Config): Sockets {
  const stack = Stack.of(scope)
  const api = new CfnApi(scope, 'Sockets', {
    name: `${config.prefix}-${config.stage}-live`,
    description: 'Live connections of the console',
    protocolType: 'WEBSOCKET',
    // All messages have one route.
    routeSelectionExpression: '$request.body.type',
  })
  const stageName = apiStage(config)
  return {
    api,
    url: `wss://${api.ref}.execute-api.${stack.region}.${stack.urlSuffix}/${stageName}`,
    connections: (action) =>
      stack.formatArn({
        service: 'execute-api',
        resource: api.ref,
        resourceName: `${stageName}/${action}/@connections/*`,
      }),
  }
}

/**
 * Brings every connection, message and disconnect to one function.
 * @param logs makes the account's gateway able to write logs
 */
export function addSocketRoutes(
  scope: Construct,
  { api }: Sockets,
  { live }: PlatformFunction,
  config: Config,
  logs: IDependable,
): void {
  const stack = Stack.of(scope)
  live.addPermission('Sockets', {
    principal: new ServicePrincipal('apigateway.amazonaws.com'),
    sourceArn: stack.formatArn({ service: 'execute-api', resource: api.ref, resourceName: '*' }),
  })
  const integration = new CfnIntegration(scope, 'SocketsIntegration', {
    apiId: api.ref,
    integrationType: 'AWS_PROXY',
    integrationUri: `arn:${stack.partition}:apigateway:${stack.region}:lambda:path/2015-03-31/functions/${live.functionArn}/invocations`,
  })
  const routes = ['$connect', '$disconnect', '$default'].map((routeKey) => {
    const route = new CfnRoute(scope, `Sockets${routeKey.slice(1)}`, {
      apiId: api.ref,
      routeKey,
      authorizationType: 'NONE',
      target: `integrations/${integration.ref}`,
    })
    acknowledge(route, {
      'AwsSolutions-APIG4': 'The first message carries the token: a token in an address would be logged.',
    })
    return route
  })
  const logGroup = new LogGroup(scope, 'SocketsLogs', {
    ...encryption(scope, config),
    retention: config.logRetentionDays,
    removalPolicy: retention(config),
  })
  const stage = new CfnStage(scope, 'SocketsStage', {
    apiId: api.ref,
    stageName: apiStage(config),
    autoDeploy: true,
    accessLogSettings: { destinationArn: logGroup.logGroupArn, format: accessLogFormat },
    defaultRouteSettings: {
      throttlingRateLimit: config.liveThrottle.rate,
      throttlingBurstLimit: config.liveThrottle.burst,
      // Messages contain tokens, and pushes counts of people's records.
      dataTraceEnabled: false,
      loggingLevel: 'ERROR',
    },
  })
  stage.node.addDependency(logs, ...routes)
}

/** Logs one line per connection, message and disconnect, without contents. */
const accessLogFormat = JSON.stringify({
  request_id: '$context.requestId',
  time: '$context.requestTimeEpoch',
  ip: '$context.identity.sourceIp',
  connection_id: '$context.connectionId',
  event: '$context.eventType',
  status: '$context.status',
  error: '$context.error.messageString',
})
