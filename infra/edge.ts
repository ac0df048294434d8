import { Duration, Stack } from 'aws-cdk-lib'
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager'
import {
  AllowedMethods,
  CachePolicy,
  Distribution,
  experimental,
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

export type EdgeProps = {
  /** The API's own host name. */
  host: string
  stageName: string
  domain: { name: string; certificateArn: string } | undefined
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

/** CloudFront before the API: the header's name, and a root address without the stage's name. Nothing is cached. */
export class Edge extends Construct {
  readonly distribution: Distribution

  constructor(scope: Construct, id: string, { host, stageName, domain }: EdgeProps) {
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
    this.distribution = new Distribution(this, 'Distribution', {
      httpVersion: HttpVersion.HTTP2_AND_3,
      minimumProtocolVersion: SecurityPolicyProtocol.TLS_V1_2_2021,
      ...(domain !== undefined && {
        domainNames: [domain.name],
        certificate: Certificate.fromCertificateArn(this, 'Certificate', domain.certificateArn),
      }),
      defaultBehavior: {
        origin: new HttpOrigin(host, {
          originPath: `/${stageName}`,
          protocolPolicy: OriginProtocolPolicy.HTTPS_ONLY,
          originSslProtocols: [OriginSslPolicy.TLS_V1_2],
          // A stream may be silent between its pings, and a call that waits until it is answered; 60 seconds is CloudFront's most.
          readTimeout: Duration.seconds(60),
        }),
        allowedMethods: AllowedMethods.ALLOW_ALL,
        viewerProtocolPolicy: ViewerProtocolPolicy.HTTPS_ONLY,
        cachePolicy: CachePolicy.CACHING_DISABLED,
        originRequestPolicy: OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
        edgeLambdas: [{ functionVersion: rename.currentVersion, eventType: LambdaEdgeEventType.ORIGIN_RESPONSE }],
      },
    })
    const elsewhere = this.node.root.node.tryFindChild(stackId)
    for (const construct of elsewhere === undefined ? [this] : [this, elsewhere])
      acknowledge(construct, functionReasons)
    acknowledge(this, {
      'AwsSolutions-CFR1': 'The platform has customers everywhere.',
      'AwsSolutions-CFR2':
        'Requests are limited by the API and by the platform; a web ACL is the operator’s to attach.',
      'AwsSolutions-CFR3': 'The API behind logs every request.',
      'AwsSolutions-CFR4':
        'Without a certificate of its own a distribution has CloudFront’s, whose least version cannot be set.',
    })
  }
}
