import { CfnOutput, Stack } from 'aws-cdk-lib'
import { type CfnRestApi, DomainName, EndpointType, SecurityPolicy } from 'aws-cdk-lib/aws-apigateway'
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager'
import { AaaaRecord, ARecord, HostedZone, RecordTarget } from 'aws-cdk-lib/aws-route53'
import { ApiGatewayDomain, CloudFrontTarget } from 'aws-cdk-lib/aws-route53-targets'
import type { Construct } from 'constructs'
import { apiStage } from './api.ts'
import type { Config } from './config.ts'
import { Edge } from './edge.ts'
import { type EdgeKeys, edgeKeys } from './edge-keys.ts'
import { WebAcl } from './waf.ts'

export type Address = {
  baseUrl: string
  /** Keys that the API requires of each request. Present with the edge only. */
  edgeKeys?: EdgeKeys | undefined
  /** The API's own domain. The edge has its own. */
  domain?: DomainName | undefined
}

/**
 * Determines the platform's base address: the setting, else the domain, else the edge's address, else the stage's.
 *
 * The stage's address is built from the API's id and the literal stage name. A reference to the stage would create a cycle: the
 * functions' environment needs the address, the stage needs its deployment, and the deployment needs the functions.
 */
export function addAddress(scope: Construct, api: CfnRestApi, config: Config): Address {
  const stack = Stack.of(scope)
  const host = `${api.ref}.execute-api.${stack.region}.${stack.urlSuffix}`
  const stageName = apiStage(config)
  const domain =
    config.domainName === undefined || config.certificateArn === undefined
      ? undefined
      : { name: config.domainName, certificateArn: config.certificateArn }
  const keys = config.edge ? edgeKeys(scope, config) : undefined
  const webAclArn = keys && edgeAcl(scope, config)
  const edge = keys && new Edge(scope, 'Edge', { host, stageName, domain, key: keys.sent, webAclArn, config })
  const own = domain === undefined || edge !== undefined ? undefined : ownDomain(scope, domain)

  if (config.hostedZone !== undefined && domain !== undefined) {
    const target = edge !== undefined ? new CloudFrontTarget(edge.distribution) : own && new ApiGatewayDomain(own)
    const { id: hostedZoneId, name: zoneName } = config.hostedZone
    const zone = HostedZone.fromHostedZoneAttributes(scope, 'Zone', { hostedZoneId, zoneName })
    if (target !== undefined)
      new ARecord(scope, 'Record', { zone, recordName: domain.name, target: RecordTarget.fromAlias(target) })
    // A distribution also answers over IPv6. A regional API's domain has IPv4 addresses only.
    if (edge !== undefined && target !== undefined)
      new AaaaRecord(scope, 'RecordV6', { zone, recordName: domain.name, target: RecordTarget.fromAlias(target) })
  } else if (domain !== undefined) {
    const value = edge?.distribution.distributionDomainName ?? own?.domainNameAliasDomainName
    if (value !== undefined) new CfnOutput(scope, 'DomainTarget', { value, description: `Point ${domain.name} here` })
  }

  const reached = domain?.name ?? edge?.distribution.distributionDomainName
  const baseUrl = config.baseUrl ?? (reached === undefined ? `https://${host}/${stageName}` : `https://${reached}`)
  return { baseUrl, edgeKeys: keys, domain: own }
}

/** Adds the web ACL of CloudFront. It has to be in us-east-1, so the stack is there too. */
const edgeAcl = (scope: Construct, config: Config): string | undefined =>
  config.waf ? new WebAcl(scope, 'WebAcl', { scope: 'CLOUDFRONT', config }).arn : undefined

function ownDomain(scope: Construct, domain: { name: string; certificateArn: string }): DomainName {
  return new DomainName(scope, 'Domain', {
    domainName: domain.name,
    certificate: Certificate.fromCertificateArn(scope, 'Certificate', domain.certificateArn),
    endpointType: EndpointType.REGIONAL,
    securityPolicy: SecurityPolicy.TLS_1_2,
  })
}
