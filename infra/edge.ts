import { Duration, Fn, RemovalPolicy, type SecretValue, Stack } from 'aws-cdk-lib'
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager'
import {
  AllowedMethods,
  CachePolicy,
  Function as CloudFrontFunction,
  Distribution,
  experimental,
  FunctionCode,
  FunctionEventType,
  FunctionRuntime,
  HttpVersion,
  LambdaEdgeEventType,
  OriginProtocolPolicy,
  OriginRequestPolicy,
  OriginSslPolicy,
  SecurityPolicyProtocol,
  ViewerProtocolPolicy,
} from 'aws-cdk-lib/aws-cloudfront'
import { HttpOrigin } from 'aws-cdk-lib/aws-cloudfront-origins'
import { Code, Runtime } from 'aws-cdk-lib/aws-lambda'
import { CfnDelivery, CfnDeliveryDestination, CfnDeliverySource, LogGroup } from 'aws-cdk-lib/aws-logs'
import { Construct } from 'constructs'
import { VIEWER_HEADER } from '#shared/http/exchange.ts'
import { partOfStackId } from './backup.ts'
import type { Config } from './config.ts'
import { encryption } from './encryption.ts'
import { acknowledge } from './nag.ts'
import { EDGE_SECONDS } from './plan.ts'
import { retention } from './retention.ts'

/**
 * Runs in CloudFront after the API's answer. A REST API renames `WWW-Authenticate`, which standard OAuth clients look for. This
 * function restores the name. It handles the origin response, because CloudFront calls no viewer-response function for an answer of
 * 400 or more, and those are the answers with the header.
 */
const restoreHeaderName = `exports.handler = async (event) => {
  const { response } = event.Records[0].cf
  const renamed = response.headers['x-amzn-remapped-www-authenticate']
  if (renamed !== undefined) {
    response.headers['www-authenticate'] = renamed.map(({ value }) => ({ key: 'WWW-Authenticate', value }))
    delete response.headers['x-amzn-remapped-www-authenticate']
  }
  return response
}
`

/**
 * Runs in CloudFront before the request is forwarded, and sets the caller's address as CloudFront sees it, overwriting a forged one.
 * CloudFront's own header would need a policy that also sends the caller's `Host`, which the API refuses.
 */
const sendViewerAddress = `function handler(event) {
  event.request.headers['${VIEWER_HEADER}'] = { value: event.viewer.ip }
  return event.request
}
`

export type EdgeProps = {
  /** Host name of the API. */
  host: string
  stageName: string
  domain: { name: string; certificateArn: string } | undefined
  /** Key by which the API recognizes the edge. */
  key: SecretValue
  webAclArn: string | undefined
  config: Config
}

/** Reasons for accepting findings on the Lambda@Edge function. */
const functionReasons = {
  'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole]':
    'The role of the Lambda@Edge function may only write its log.',
  'AwsSolutions-L1': 'Node.js 22 is the newest runtime of Lambda@Edge.',
  'Serverless-LambdaLatestVersion': 'Node.js 22 is the newest runtime of Lambda@Edge.',
  'Serverless-LambdaTracing': 'Lambda@Edge has no tracing.',
  'Serverless-LambdaDLQ': 'CloudFront waits for the answer.',
}

/**
 * CloudFront in front of the API. It restores the header's name, sends the caller's address, and has a root address without the
 * stage's name. It caches nothing. The API refuses requests without the key, which only CloudFront sends.
 */
export class Edge extends Construct {
  readonly distribution: Distribution
  /** CloudFront's log can be set up in the stage's region. */
  readonly #logged: boolean

  constructor(scope: Construct, id: string, { host, stageName, domain, key, webAclArn, config }: EdgeProps) {
    super(scope, id)
    this.#logged = config.region === 'us-east-1' && config.edgeLog
    // CloudFront needs the function in us-east-1. For other regions, the CDK creates a separate stack there.
    const stackId = Stack.of(this).stackName.replace(/-Service$/, '-Edge')
    const rename = new experimental.EdgeFunction(this, 'OriginResponse', {
      stackId,
      runtime: Runtime.NODEJS_22_X,
      handler: 'index.handler',
      code: Code.fromInline(restoreHeaderName),
      description: 'Restores the name of WWW-Authenticate',
      memorySize: 128,
      timeout: Duration.seconds(5),
      currentVersionOptions: { removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE },
    })
    // CloudFront removes a function's replicas hours after it stopped using them, and until then Lambda refuses to delete it. A stack
    // that tried would end in DELETE_FAILED. The operator deletes the function later (docs/deploy.md).
    rename.lambda.applyRemovalPolicy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE)
    const address = new CloudFrontFunction(this, 'ViewerRequest', {
      runtime: FunctionRuntime.JS_2_0,
      code: FunctionCode.fromInline(sendViewerAddress),
      comment: 'Sends the caller’s address to the API',
    })
    this.distribution = new Distribution(this, 'Distribution', {
      httpVersion: HttpVersion.HTTP2_AND_3,
      minimumProtocolVersion: SecurityPolicyProtocol.TLS_V1_2_2021,
      ...(webAclArn !== undefined && { webAclId: webAclArn }),
      ...(domain !== undefined && {
        domainNames: [domain.name],
        certificate: Certificate.fromCertificateArn(this, 'Certificate', domain.certificateArn),
      }),
      defaultBehavior: {
        origin: new HttpOrigin(host, {
          originPath: `/${stageName}`,
          // CloudFormation resolves the value. It also overwrites what a caller sends under this name.
          customHeaders: { 'x-api-key': key.unsafeUnwrap() },
          protocolPolicy: OriginProtocolPolicy.HTTPS_ONLY,
          originSslProtocols: [OriginSslPolicy.TLS_V1_2],
          // Calls that wait for an agent are silent until their answer.
          readTimeout: Duration.seconds(EDGE_SECONDS),
        }),
        allowedMethods: AllowedMethods.ALLOW_ALL,
        viewerProtocolPolicy: ViewerProtocolPolicy.HTTPS_ONLY,
        cachePolicy: CachePolicy.CACHING_DISABLED,
        originRequestPolicy: OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
        functionAssociations: [{ function: address, eventType: FunctionEventType.VIEWER_REQUEST }],
        edgeLambdas: [{ functionVersion: rename.currentVersion, eventType: LambdaEdgeEventType.ORIGIN_RESPONSE }],
      },
    })
    if (this.#logged) this.#log(config)
    const elsewhere = this.node.root.node.tryFindChild(stackId)
    for (const construct of elsewhere === undefined ? [this] : [this, elsewhere])
      acknowledge(construct, functionReasons)
    acknowledge(this, {
      'AwsSolutions-CFR1': 'The platform has customers everywhere.',
      'AwsSolutions-CFR2': 'The API and the platform limit requests, and a web ACL is a setting.',
      'AwsSolutions-CFR3': this.#logged
        ? 'Logged by a delivery of CloudWatch Logs, which leaves out query strings. The rule knows only the older logs, which contain them.'
        : 'CloudFront’s logs without query strings can be set up in us-east-1 only. Elsewhere, requests that CloudFront itself refuses aren’t logged; all others are in the API’s log, and their callers’ addresses in the functions’.',
      'AwsSolutions-CFR4':
        'Without its own certificate, a distribution uses CloudFront’s, whose minimum TLS version can’t be set.',
    })
  }

  /** Logs requests without query strings, cookies and credentials, under the names of the API's log. */
  #log(config: Config): void {
    const stack = Stack.of(this)
    const logs = new LogGroup(this, 'Logs', {
      ...encryption(this, config),
      retention: config.logRetentionDays,
      removalPolicy: retention(config),
    })
    const name = (part: string) => Fn.join('-', [stack.stackName, part, partOfStackId()])
    const source = new CfnDeliverySource(this, 'LogSource', {
      name: name('edge'),
      logType: 'ACCESS_LOGS',
      resourceArn: this.distribution.distributionArn,
    })
    const destination = new CfnDeliveryDestination(this, 'LogDestination', {
      name: name('edge'),
      outputFormat: 'json',
      destinationResourceArn: logs.logGroupArn,
    })
    const delivery = new CfnDelivery(this, 'LogDelivery', {
      deliverySourceName: source.name,
      deliveryDestinationArn: destination.attrArn,
      recordFields: [
        'timestamp(ms)',
        'x-edge-request-id',
        'c-ip',
        'cs-method',
        'cs-uri-stem',
        'sc-status',
        'sc-bytes',
        'time-taken',
        'x-edge-result-type',
        'x-edge-detailed-result-type',
      ],
    })
    delivery.addResourceDependency(source)
  }
}
