import { Duration, RemovalPolicy, SecretValue, Stack } from 'aws-cdk-lib'
import {
  AccessLogField,
  AccessLogFormat,
  ApiKey,
  BasePathMapping,
  CfnAccount,
  CfnRestApi,
  CfnUsagePlanKey,
  Deployment,
  DomainName,
  type IResource,
  type IRestApi,
  LambdaIntegration,
  LogGroupLogDestination,
  type Method,
  MethodLoggingLevel,
  ResponseTransferMode,
  RestApi,
  Stage,
  UsagePlan,
} from 'aws-cdk-lib/aws-apigateway'
import { ManagedPolicy, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import { LogGroup } from 'aws-cdk-lib/aws-logs'
import { CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2'
import type { Construct } from 'constructs'
import type { ApiNames } from './api-metrics.ts'
import type { Config } from './config.ts'
import { ConfigError } from './config.ts'
import { type EdgeKeys, nth } from './edge-keys.ts'
import { acknowledge } from './nag.ts'
import { WAITING_SECONDS } from './plan.ts'
import type { Route } from './routes.ts'
import { WebAcl } from './waf.ts'

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

/** The API's name, by which it is measured. */
const apiName = ({ prefix, stage }: Config): string => `${prefix}-${stage}`

/** The API's stage. */
export const apiStage = ({ stageName, stage }: Config): string => stageName ?? stage

export const apiNames = (config: Config): ApiNames => ({ apiName: apiName(config), apiStage: apiStage(config) })

/** The REST API, still without routes: its id is part of the address that the functions are told. */
export function createApi(scope: Construct, config: Config): CfnRestApi {
  const api = new CfnRestApi(scope, 'Api', {
    name: apiName(config),
    endpointConfiguration: { types: ['REGIONAL'] },
    // Lists and the documentation's scripts; a function would have to answer in base64 for it.
    minimumCompressionSize: 2048,
    // A domain that can be gone around is none.
    disableExecuteApiEndpoint: config.domainName !== undefined && !config.edge,
  })
  acknowledge(api, {
    'AwsSolutions-APIG2':
      'Requests are validated by the functions, which answer in the platform’s words and name the fields.',
  })
  return api
}

/** The same API in another stack. */
export const importApi = (scope: Construct, api: CfnRestApi): IRestApi =>
  RestApi.fromRestApiAttributes(scope, 'Api', { restApiId: api.ref, rootResourceId: api.attrRootResourceId })

/**
 * Connects the routes with their functions, each with any method, so that a wrong one is answered by the platform.
 *
 * @param streaming Whether calls that wait are answered as a stream, which may take minutes; otherwise the gateway gives up after 29 s.
 * @param keyed Whether the gateway takes requests with the edge's key only.
 */
export function addRoutes(
  api: IRestApi,
  routes: Route[],
  functions: Map<string, IFunction>,
  { streaming, keyed }: { streaming: boolean; keyed: boolean },
): Method[] {
  const integrations = new Map<string, LambdaIntegration>()
  return routes.map((route) => {
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
        // Only then may it be longer than the 29 seconds that it is when nothing is said.
        ...(streams && {
          responseTransferMode: ResponseTransferMode.STREAM,
          timeout: Duration.seconds(WAITING_SECONDS),
        }),
      })
    integrations.set(key, integration)
    const method = resourceAt(api, route.path).addMethod('ANY', integration, keyed ? { apiKeyRequired: true } : {})
    acknowledge(method, {
      'AwsSolutions-APIG4':
        'Callers are authenticated by the functions: credentials of five kinds, and errors with scopes and hints.',
      'AwsSolutions-COG4':
        'Callers are integrations, developers, customers and admins of the platform, none of them in Cognito.',
    })
    return method
  })
}

function resourceAt(api: IRestApi, path: string): IResource {
  const segments = path.split('/').filter((segment) => segment !== '')
  return segments.reduce<IResource>(
    (parent, segment) => parent.getResource(segment) ?? parent.addResource(segment),
    api.root,
  )
}

/**
 * What callers reach: the API as its routes and its own answers are now, at the stage's address.
 *
 * @param of Everything that a deployment takes a picture of; it waits for these, and is made anew when one of them changes.
 */
export function addStage(scope: Construct, api: IRestApi, config: Config, of: readonly Construct[]): Stage {
  const deployment = new Deployment(scope, 'Deployment', { api })
  deployment.node.addDependency(...of)
  const stack = Stack.of(scope)
  deployment.addToLogicalId(of.map((part) => stack.resolve((part.node.defaultChild as CfnRestApi)._toCloudFormation())))
  const logGroup = new LogGroup(scope, 'AccessLogs', {
    retention: config.logRetentionDays,
    removalPolicy: config.retainData ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
  })
  const stage = new Stage(scope, 'Stage', {
    deployment,
    stageName: apiStage(config),
    accessLogDestination: new LogGroupLogDestination(logGroup),
    accessLogFormat,
    // Errors of the gateway, never requests and answers: those hold tokens.
    loggingLevel: MethodLoggingLevel.ERROR,
    dataTraceEnabled: false,
    metricsEnabled: config.methodMetrics,
    tracingEnabled: config.tracing,
    throttlingRateLimit: config.throttle.rate,
    throttlingBurstLimit: config.throttle.burst,
  })
  stage.node.addDependency(logsOfGateway(scope))
  acknowledge(stage, {
    'AwsSolutions-APIG3':
      'The web ACL is a setting, and before the edge where there is one; the platform limits requests by caller and the stage by rate.',
    'Serverless-APIGWDefaultThrottling': 'The stage’s default method settings throttle.',
  })
  return stage
}

/** Puts a web ACL before the stage. */
export function guard(scope: Construct, stage: Stage, requestsPerAddress: number): CfnWebACLAssociation {
  const { arn } = new WebAcl(scope, 'WebAcl', { scope: 'REGIONAL', requestsPerAddress })
  return new CfnWebACLAssociation(scope, 'WebAclAssociation', { webAclArn: arn, resourceArn: stage.stageArn })
}

/** Gives the API the keys that it takes requests with: the edge's. A plan has no other use here, and limits nothing. */
export function letIn(scope: Construct, api: IRestApi, stage: Stage, { taken }: EdgeKeys): void {
  const plan = new UsagePlan(scope, 'EdgePlan', { apiStages: [{ api, stage }] })
  let before: CfnUsagePlanKey | undefined
  for (const [number, arn] of taken) {
    // CloudFormation resolves it.
    const value = SecretValue.secretsManager(arn).unsafeUnwrap()
    const { keyId } = new ApiKey(scope, nth('Edge', number), { value, description: 'The edge' })
    const key = new CfnUsagePlanKey(scope, nth('EdgePlanKey', number), {
      usagePlanId: plan.usagePlanId,
      keyId,
      keyType: 'API_KEY',
    })
    // API Gateway takes one at a time, and CloudFormation does not ask twice.
    if (before !== undefined) key.addDependency(before)
    before = key
  }
}

/** The account's role for API logs is one for all stages; the stack that is deleted must not take it from the others. */
function logsOfGateway(scope: Construct): CfnAccount {
  const role = new Role(scope, 'CloudWatchRole', {
    assumedBy: new ServicePrincipal('apigateway.amazonaws.com'),
    managedPolicies: [ManagedPolicy.fromAwsManagedPolicyName('service-role/AmazonAPIGatewayPushToCloudWatchLogs')],
  })
  role.applyRemovalPolicy(RemovalPolicy.RETAIN)
  acknowledge(role, {
    'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]':
      'API Gateway writes its logs through this managed policy; it must cover log groups that the gateway names.',
  })
  const account = new CfnAccount(scope, 'Account', { cloudWatchRoleArn: role.roleArn })
  account.applyRemovalPolicy(RemovalPolicy.RETAIN)
  return account
}

/** The operator's own domain shows the stage at its root. By its name, not by an export: that could not change while it is in use. */
export function mapDomain(scope: Construct, name: string, restApi: IRestApi, stage: Stage): void {
  const domainName = DomainName.fromDomainNameAttributes(scope, 'MappedDomain', {
    domainName: name,
    // For records in a zone, of which there are none here.
    domainNameAliasHostedZoneId: '',
    domainNameAliasTarget: '',
  })
  new BasePathMapping(scope, 'DomainMapping', { domainName, restApi, stage })
}
