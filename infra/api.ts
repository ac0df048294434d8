import { RemovalPolicy, Size } from 'aws-cdk-lib'
import {
  AccessLogField,
  AccessLogFormat,
  EndpointType,
  type IResource,
  LambdaIntegration,
  LogGroupLogDestination,
  MethodLoggingLevel,
  ResponseTransferMode,
  RestApi,
} from 'aws-cdk-lib/aws-apigateway'
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda'
import { LogGroup } from 'aws-cdk-lib/aws-logs'
import type { Construct } from 'constructs'
import type { Config } from './config.ts'
import { ConfigError } from './config.ts'
import { acknowledge } from './nag.ts'
import type { Route } from './routes.ts'

/**
 * One line for each request. The path without its query string, and no header: codes, tokens and signatures travel in those.
 */
const accessLogFormat = AccessLogFormat.custom(
  JSON.stringify({
    request_id: AccessLogField.contextRequestId(),
    extended_request_id: AccessLogField.contextExtendedRequestId(),
    time: AccessLogField.contextRequestTimeEpoch(),
    ip: AccessLogField.contextIdentitySourceIp(),
    method: AccessLogField.contextHttpMethod(),
    path: AccessLogField.contextPath(),
    status: AccessLogField.contextStatus(),
    bytes: AccessLogField.contextResponseLength(),
    latency_ms: AccessLogField.contextResponseLatency(),
    integration_ms: AccessLogField.contextIntegrationLatency(),
    error: AccessLogField.contextErrorResponseType(),
  }),
)

/** The REST API with its stage, still without routes: its id is part of the address that the functions are told. */
export function createApi(scope: Construct, config: Config): RestApi {
  const logGroup = new LogGroup(scope, 'AccessLogs', {
    retention: config.logRetentionDays,
    removalPolicy: config.retainData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
  })
  const api = new RestApi(scope, 'Api', {
    restApiName: `${config.prefix}-${config.stage}`,
    endpointTypes: [EndpointType.REGIONAL],
    // Lists and the documentation's scripts; a function would have to answer in base64 for it.
    minCompressionSize: Size.kibibytes(2),
    // A domain that can be gone around is none.
    disableExecuteApiEndpoint: config.domainName !== undefined && !config.edge,
    // The account's role for API logs is one for all stages; the stack that is deleted must not take it from the others.
    cloudWatchRole: true,
    cloudWatchRoleRemovalPolicy: RemovalPolicy.RETAIN,
    deployOptions: {
      stageName: config.stage,
      accessLogDestination: new LogGroupLogDestination(logGroup),
      accessLogFormat,
      // Errors of the gateway, never requests and answers: those hold tokens.
      loggingLevel: MethodLoggingLevel.ERROR,
      dataTraceEnabled: false,
      metricsEnabled: true,
      tracingEnabled: true,
      throttlingRateLimit: config.throttle.rate,
      throttlingBurstLimit: config.throttle.burst,
    },
  })
  acknowledge(api, {
    'AwsSolutions-APIG2':
      'Requests are validated by the functions, which answer in the platform’s words and name the fields.',
    'AwsSolutions-APIG3':
      'A web ACL is the operator’s to attach; the platform limits requests by caller and the stage by rate.',
    'AwsSolutions-APIG4':
      'Callers are authenticated by the functions: credentials of five kinds, and errors with scopes and hints.',
    'AwsSolutions-COG4':
      'Callers are integrations, developers, customers and admins of the platform, none of them in Cognito.',
    'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]':
      'API Gateway writes its logs through this managed policy; it must cover log groups that the gateway names.',
    'Serverless-APIGWDefaultThrottling': 'The stage’s default method settings throttle.',
  })
  return api
}

/**
 * Connects the routes with their functions, each with any method, so that a wrong one is answered by the platform.
 *
 * @param streaming Whether calls that wait are answered as a stream, which may take minutes; otherwise the gateway gives up after 29 s.
 */
export function addRoutes(
  api: RestApi,
  routes: Route[],
  functions: Map<string, LambdaFunction>,
  streaming: boolean,
): void {
  const integrations = new Map<string, LambdaIntegration>()
  for (const route of routes) {
    const handler = functions.get(route.function)
    if (handler === undefined)
      throw new ConfigError(`${route.path} belongs to functions/${route.function}, which is not registered`)
    const streams = route.streams && streaming
    const key = `${route.function} ${streams}`
    const integration =
      integrations.get(key) ??
      new LambdaIntegration(handler, {
        // One permission for each function: one for each method would outgrow the function's policy.
        scopePermissionToMethod: false,
        ...(streams && { responseTransferMode: ResponseTransferMode.STREAM }),
      })
    integrations.set(key, integration)
    resourceAt(api, route.path).addMethod('ANY', integration)
  }
}

function resourceAt(api: RestApi, path: string): IResource {
  const segments = path.split('/').filter((segment) => segment !== '')
  return segments.reduce<IResource>(
    (parent, segment) => parent.getResource(segment) ?? parent.addResource(segment),
    api.root,
  )
}
