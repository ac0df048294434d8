import { CfnWebACL } from 'aws-cdk-lib/aws-wafv2'
import { Construct } from 'constructs'

/**
 * Rules of AWS's managed groups that only count here. Bodies and search texts are what people, agents and models write: pages, code,
 * logs and addresses, which the platform keeps as text, escapes in its pages, and never runs, includes or opens unchecked.
 */
const COUNTED: Record<string, Record<string, string>> = {
  AWSManagedRulesCommonRuleSet: {
    SizeRestrictions_BODY: 'It ends at 8 KB; bodies here go up to 6 MB, and the functions refuse larger ones.',
    SizeRestrictions_QUERYSTRING: 'It ends at 2 KB; an authorization request with a long state is larger.',
    NoUserAgent_HEADER: 'Integrations are programs, and many name no user agent.',
    CrossSiteScripting_BODY: 'HTML and scripts are legitimate text.',
    CrossSiteScripting_QUERYARGUMENTS: 'HTML and scripts are looked for, too.',
    GenericLFI_BODY: 'Paths are legitimate text.',
    GenericRFI_BODY: 'Addresses are legitimate text, and callbacks are checked where they are opened.',
    GenericRFI_QUERYARGUMENTS: 'A native client’s redirect address is http://127.0.0.1 (RFC 8252).',
    EC2MetaDataSSRF_BODY: 'Addresses are legitimate text; the guard of outgoing requests refuses that one.',
    RestrictedExtensions_QUERYARGUMENTS: 'Names of log files are looked for.',
  },
  AWSManagedRulesKnownBadInputsRuleSet: {
    Log4JRCE_BODY: 'Logs with such lines are legitimate text; nothing here is Java.',
    JavaDeserializationRCE_BODY: 'Encoded objects are legitimate text; nothing here is Java.',
    ReactJSRCE_BODY: 'Code is legitimate text; nothing here reads server components.',
  },
  AWSManagedRulesAmazonIpReputationList: {},
}

/** Headers that hold credentials, which samples of requests must not show. */
const CREDENTIALS = ['authorization', 'cookie', 'x-admin-key', 'x-developer-key', 'x-telegram-bot-api-secret-token']

export type WebAclProps = {
  /** Before the edge, or before the API's stage. */
  scope: 'CLOUDFRONT' | 'REGIONAL'
  /** Requests in five minutes. */
  requestsPerAddress: number
}

/** A web ACL: a limit for each address, then AWS's lists of bad addresses, bad inputs and common attacks. */
export class WebAcl extends Construct {
  readonly arn: string

  constructor(parent: Construct, id: string, { scope, requestsPerAddress }: WebAclProps) {
    super(parent, id)
    const limit: CfnWebACL.RuleProperty = {
      name: 'requests-per-address',
      priority: 0,
      action: { block: {} },
      statement: {
        rateBasedStatement: { limit: requestsPerAddress, evaluationWindowSec: 300, aggregateKeyType: 'IP' },
      },
      visibilityConfig: measured('requests-per-address'),
    }
    const acl = new CfnWebACL(this, 'Acl', {
      scope,
      description: 'What is kept away from the platform',
      defaultAction: { allow: {} },
      rules: [limit, ...Object.keys(COUNTED).map((group, index) => managed(group, index + 1))],
      visibilityConfig: measured('platform'),
      dataProtectionConfig: {
        dataProtections: [
          ...CREDENTIALS.map((name) => hidden('SINGLE_HEADER', [name])),
          // Codes and page cursors, and everything that people write.
          hidden('QUERY_STRING'),
          hidden('BODY'),
        ],
      },
    })
    this.arn = acl.attrArn
  }
}

/** A group of AWS's rules, as AWS has them at the time, but for those that only count. */
const managed = (name: string, priority: number): CfnWebACL.RuleProperty => ({
  name,
  priority,
  overrideAction: { none: {} },
  statement: {
    managedRuleGroupStatement: {
      vendorName: 'AWS',
      name,
      ruleActionOverrides: Object.keys(COUNTED[name] ?? {}).map((rule) => ({
        name: rule,
        actionToUse: { count: {} },
      })),
    },
  },
  visibilityConfig: measured(name),
})

const measured = (metricName: string): CfnWebACL.VisibilityConfigProperty => ({
  metricName,
  cloudWatchMetricsEnabled: true,
  sampledRequestsEnabled: true,
})

const hidden = (fieldType: string, fieldKeys?: string[]): CfnWebACL.DataProtectProperty => ({
  action: 'SUBSTITUTION',
  field: { fieldType, ...(fieldKeys && { fieldKeys }) },
})
