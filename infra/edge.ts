import { Duration, type SecretValue, Stack } from 'aws-cdk-lib'
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
import { Construct } from 'constructs'
import { VIEWER_HEADER } from '#shared/http/exchange.ts'
import { acknowledge } from './nag.ts'

/**
 * Runs in CloudFront after the API's answer. A REST API renames `WWW-Authenticate`, which standard OAuth clients look for; here it
 * gets its name back. On the origin's response and not the viewer's, because CloudFront calls neither kind of viewer-response
 * function for an answer of 400 or more, and those are the answers that carry the header.
 */
const giveNameBack = `exports.handler = async (event) => {
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
 * Runs in CloudFront before the request goes on: the caller's address as CloudFront sees it, whatever the caller said there. A
 * header of CloudFront's own would need a policy that also sends the caller's `Host`, which the API refuses.
 */
const tellAddress = `function handler(event) {
  event.request.headers['${VIEWER_HEADER}'] = { value: event.viewer.ip }
  return event.request
}
`

export type EdgeProps = {
  /** The API's own host name. */
  host: string
  stageName: string
  domain: { name: string; certificateArn: string } | undefined
  /** What the API knows the edge by. */
  key: SecretValue
  webAclArn: string | undefined
}

/** Why the function at the edge is as it is. */
const functionReasons = {
  'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole]':
    'The role of a Lambda@Edge function may write its log and nothing else.',
  'AwsSolutions-L1': 'Lambda@Edge takes Node.js 22 as its newest runtime.',
  'Serverless-LambdaLatestVersion': 'Lambda@Edge takes Node.js 22 as its newest runtime.',
  'Serverless-LambdaTracing': 'Lambda@Edge has no tracing.',
  'Serverless-LambdaDLQ': 'CloudFront waits for the answer.',
}

/**
 * CloudFront before the API: the header's name, the caller's address, and a root address without the stage's name. Nothing is
 * cached. The API takes no request without the key that only CloudFront sends.
 */
export class Edge extends Construct {
  readonly distribution: Distribution

  constructor(scope: Construct, id: string, { host, stageName, domain, key, webAclArn }: EdgeProps) {
    super(scope, id)
    // CloudFront looks for the function in us-east-1: from another region the CDK puts it into a stack of its own there.
    const stackId = Stack.of(this).stackName.replace(/-Service$/, '-Edge')
    const rename = new experimental.EdgeFunction(this, 'OriginResponse', {
      stackId,
      runtime: Runtime.NODEJS_22_X,
      handler: 'index.handler',
      code: Code.fromInline(giveNameBack),
      description: 'Gives WWW-Authenticate its name back',
      memorySize: 128,
      timeout: Duration.seconds(5),
    })
    const address = new CloudFrontFunction(this, 'ViewerRequest', {
      runtime: FunctionRuntime.JS_2_0,
      code: FunctionCode.fromInline(tellAddress),
      comment: 'Tells the API whose request it is',
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
          // CloudFormation resolves it; it also replaces what a caller sends under this name.
          customHeaders: { 'x-api-key': key.unsafeUnwrap() },
          protocolPolicy: OriginProtocolPolicy.HTTPS_ONLY,
          originSslProtocols: [OriginSslPolicy.TLS_V1_2],
          // A stream may be silent between its pings, and a call that waits until it is answered; 60 seconds is CloudFront's most.
          readTimeout: Duration.seconds(60),
        }),
        allowedMethods: AllowedMethods.ALLOW_ALL,
        viewerProtocolPolicy: ViewerProtocolPolicy.HTTPS_ONLY,
        cachePolicy: CachePolicy.CACHING_DISABLED,
        originRequestPolicy: OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
        functionAssociations: [{ function: address, eventType: FunctionEventType.VIEWER_REQUEST }],
        edgeLambdas: [{ functionVersion: rename.currentVersion, eventType: LambdaEdgeEventType.ORIGIN_RESPONSE }],
      },
    })
    const elsewhere = this.node.root.node.tryFindChild(stackId)
    for (const construct of elsewhere === undefined ? [this] : [this, elsewhere])
      acknowledge(construct, functionReasons)
    acknowledge(this, {
      'AwsSolutions-CFR1': 'The platform has customers everywhere.',
      'AwsSolutions-CFR2': 'Requests are limited by the API and by the platform; a web ACL is a setting.',
      'AwsSolutions-CFR3': 'The API behind logs every request.',
      'AwsSolutions-CFR4':
        'Without a certificate of its own a distribution has CloudFront’s, whose least version cannot be set.',
    })
  }
}
