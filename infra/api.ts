import { Duration, RemovalPolicy, SecretValue, Stack } from 'aws-cdk-lib'
import {
  ApiKey,
  CfnAccount,
  CfnRestApi,
  CfnUsagePlanKey,
  Deployment,
  type IResource,
  type IRestApi,
  LambdaIntegration,
  LogGroupLogDestination,
  type Method,
  type MethodDeploymentOptions,
  MethodLoggingLevel,
  ResponseTransferMode,
  RestApi,
  Stage,
  UsagePlan,
} from 'aws-cdk-lib/aws-apigateway'
import { ManagedPolicy, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import { LogGroup } from 'aws-cdk-lib/aws-logs'
import type { Construct } from 'constructs'
import { accessLogFormat } from './access-log.ts'
import type { ApiNames } from './api-metrics.ts'
import type { Config } from './config.ts'
import { ConfigError } from './config.ts'
import { type EdgeKeys, nth } from './edge-keys.ts'
import { encryption } from './encryption.ts'
import { acknowledge } from './nag.ts'
import { WAITING_SECONDS } from './plan.ts'
import { retention } from './retention.ts'
import type { Route } from './routes.ts'

/** Paths that people's pages call. */
const PAGES = /^\/(console|admin)(\/|$)/

/** Name of the API in its metrics. */
const apiName = ({ prefix, stage }: Config): string => `${prefix}-${stage}`

/** Name of the API's stage. */
export const apiStage = ({ stageName, stage }: Config): string => stageName ?? stage

export const apiNames = (config: Config): ApiNames => ({ apiName: apiName(config), apiStage: apiStage(config) })

/** Creates the REST API without routes. Its id is part of the address that the functions get. */
export function createApi(scope: Construct, config: Config): CfnRestApi {
  const api = new CfnRestApi(scope, 'Api', {
    name: apiName(config),
    endpointConfiguration: { types: ['REGIONAL'] },
    // For lists and the documentation's scripts. A function would have to compress and answer in base64.
    minimumCompressionSize: 2048,
    // No one should be able to bypass the domain.
    disableExecuteApiEndpoint: config.domainName !== undefined && !config.edge,
  })
  acknowledge(api, {
    'AwsSolutions-APIG2':
      'The functions validate requests. They answer with the platform’s errors and name the fields.',
  })
  return api
}

/** Returns the API as a construct that takes routes. */
export const apiWithRoutes = (scope: Construct, api: CfnRestApi): IRestApi =>
  RestApi.fromRestApiAttributes(scope, 'Routes', { restApiId: api.ref, rootResourceId: api.attrRootResourceId })

/**
 * Connects the routes with their functions. Each resource takes any method, so that the platform answers wrong ones.
 *
 * @param streaming answers calls that wait as a stream, which may take minutes; otherwise the gateway gives up after 29 s
 * @param keyed lets the gateway accept only requests with the edge's key
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
        // One permission per function: one per method would exceed the size of the function's policy.
        scopePermissionToMethod: false,
        // Only streams may have a timeout above the default of 29 seconds.
        ...(streams && {
          responseTransferMode: ResponseTransferMode.STREAM,
          timeout: Duration.seconds(WAITING_SECONDS),
        }),
      })
    integrations.set(key, integration)
    const method = resourceAt(api, route.path).addMethod(
      route.method,
      integration,
      keyed ? { apiKeyRequired: true } : {},
    )
    acknowledge(method, {
      'AwsSolutions-APIG4':
        'The functions authenticate callers: there are five kinds of credentials, and errors name scopes and fixes.',
      'AwsSolutions-COG4': 'Callers are integrations, developers, customers and admins. None of them is in Cognito.',
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
 * Deploys the API with its current routes and gateway responses to the stage.
 *
 * @param logs makes the account's gateway able to write logs
 * @param routes routes of the API, of which those of people's pages have their own throttle
 * @param of constructs that a deployment snapshots; it depends on them, and is replaced when one of them changes
 */
export function addStage(
  scope: Construct,
  api: IRestApi,
  config: Config,
  of: readonly Construct[],
  logs: CfnAccount,
  routes: readonly Route[],
): Stage {
  const deployment = new Deployment(scope, 'Deployment', { api })
  deployment.node.addDependency(...of)
  const stack = Stack.of(scope)
  deployment.addToLogicalId(of.map((part) => stack.resolve((part.node.defaultChild as CfnRestApi)._toCloudFormation())))
  const logGroup = new LogGroup(scope, 'AccessLogs', {
    ...encryption(scope, config),
    retention: config.logRetentionDays,
    removalPolicy: retention(config),
  })
  // A method with settings of its own takes none from the stage, so each has all of them.
  const method = ({ rate, burst }: Config['throttle']): MethodDeploymentOptions => ({
    // Only errors of the gateway, never requests and answers: those contain tokens.
    loggingLevel: MethodLoggingLevel.ERROR,
    dataTraceEnabled: false,
    metricsEnabled: config.methodMetrics,
    throttlingRateLimit: rate,
    throttlingBurstLimit: burst,
  })
  const pages = routes.filter(({ path }) => PAGES.test(path))
  const stage = new Stage(scope, 'Stage', {
    deployment,
    stageName: apiStage(config),
    accessLogDestination: new LogGroupLogDestination(logGroup),
    accessLogFormat,
    tracingEnabled: config.tracing,
    ...method(config.throttle),
    methodOptions: Object.fromEntries(
      pages.map(({ path, method: name }) => [`${path}/${name}`, method(config.pagesThrottle)]),
    ),
  })
  stage.node.addDependency(logs)
  acknowledge(stage, {
    'AwsSolutions-APIG3':
      'The web ACL is a setting, and protects the edge if there is one. The platform limits requests per caller, and the stage limits their rate.',
    'Serverless-APIGWXrayEnabled': 'Tracing is a setting, off unless the operator turns it on.',
    'Serverless-APIGWDefaultThrottling': 'The stage’s default method settings throttle.',
  })
  return stage
}

/**
 * Makes the API accept the edge's keys. The usage plan has no other purpose and limits nothing.
 * @param owner of the keys, whose template refers to their secrets
 */
export function acceptEdgeKeys(
  scope: Construct,
  owner: Construct,
  api: IRestApi,
  stage: Stage,
  { taken }: EdgeKeys,
): void {
  const plan = new UsagePlan(scope, 'EdgePlan', { apiStages: [{ api, stage }] })
  let before: CfnUsagePlanKey | undefined
  for (const [number, arn] of taken) {
    // CloudFormation resolves it.
    const value = SecretValue.secretsManager(arn).unsafeUnwrap()
    const { keyId } = new ApiKey(owner, nth('EdgeApiKey', number), { value, description: 'The edge' })
    const key = new CfnUsagePlanKey(scope, nth('EdgePlanKey', number), {
      usagePlanId: plan.usagePlanId,
      keyId,
      keyType: 'API_KEY',
    })
    // API Gateway accepts one change at a time, and CloudFormation doesn't retry.
    if (before !== undefined) key.addResourceDependency(before)
    before = key
  }
}

/** Sets the account's role for API logs. All stages share it, so deleting a stack must not remove it. */
export function logsOfGateway(scope: Construct): CfnAccount {
  const role = new Role(scope, 'CloudWatchRole', {
    assumedBy: new ServicePrincipal('apigateway.amazonaws.com'),
    managedPolicies: [ManagedPolicy.fromAwsManagedPolicyName('service-role/AmazonAPIGatewayPushToCloudWatchLogs')],
  })
  role.applyRemovalPolicy(RemovalPolicy.RETAIN)
  acknowledge(role, {
    'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]':
      'API Gateway writes its logs through this managed policy, which must cover log groups that the gateway names.',
  })
  const account = new CfnAccount(scope, 'Account', { cloudWatchRoleArn: role.roleArn })
  account.applyRemovalPolicy(RemovalPolicy.RETAIN)
  return account
}
