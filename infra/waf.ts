import { ArnFormat, Fn, Stack } from 'aws-cdk-lib'
import { CfnLogGroup } from 'aws-cdk-lib/aws-logs'
import { CfnLoggingConfiguration, CfnWebACL } from 'aws-cdk-lib/aws-wafv2'
import { Construct } from 'constructs'
import { partOfStackId } from './backup.ts'
import type { Config } from './config.ts'
import { retention } from './retention.ts'

/**
 * Rules of AWS's managed groups that only count. People, agents and models write pages, code, logs and addresses into bodies and
 * search texts. The platform stores these as text, escapes them in its pages, and never runs, includes or opens them unchecked.
 */
const COUNTED: Record<string, Record<string, string>> = {
  AWSManagedRulesCommonRuleSet: {
    SizeRestrictions_BODY: 'Its limit is 8 KB. Bodies go up to 6 MB, and the functions refuse larger ones.',
    SizeRestrictions_QUERYSTRING: 'Its limit is 2 KB. An authorization request with a long state is larger.',
    NoUserAgent_HEADER: 'Integrations are programs, and many send no user agent.',
    CrossSiteScripting_BODY: 'HTML and scripts are legitimate text.',
    CrossSiteScripting_QUERYARGUMENTS: 'People search for HTML and scripts.',
    GenericLFI_BODY: 'Paths are legitimate text.',
    GenericRFI_BODY: 'Addresses are legitimate text, and callbacks are checked before they are called.',
    GenericRFI_QUERYARGUMENTS: 'A native client’s redirect address is http://127.0.0.1 (RFC 8252).',
    EC2MetaDataSSRF_BODY: 'Addresses are legitimate text, and outgoing requests to this one are refused.',
    RestrictedExtensions_QUERYARGUMENTS: 'People search for names of log files.',
  },
  AWSManagedRulesKnownBadInputsRuleSet: {
    Log4JRCE_BODY: 'Logs with such lines are legitimate text, and nothing here runs Java.',
    JavaDeserializationRCE_BODY: 'Encoded objects are legitimate text, and nothing here runs Java.',
    ReactJSRCE_BODY: 'Code is legitimate text, and nothing here uses server components.',
  },
  AWSManagedRulesAmazonIpReputationList: {},
}

/** Headers with credentials, which samples of requests must not show. */
const CREDENTIALS = ['authorization', 'cookie', 'x-admin-key', 'x-developer-key', 'x-telegram-bot-api-secret-token']

export type WebAclProps = {
  /** Protects the edge or the API's stage. */
  scope: 'CLOUDFRONT' | 'REGIONAL'
  config: Config
}

/** Web ACL with a limit per source address and AWS's lists of bad addresses, bad inputs and common attacks. */
export class WebAcl extends Construct {
  readonly arn: string

  constructor(parent: Construct, id: string, { scope, config }: WebAclProps) {
    super(parent, id)
    const limit: CfnWebACL.RuleProperty = {
      name: 'requests-per-address',
      priority: 0,
      action: { block: {} },
      statement: {
        rateBasedStatement: { limit: config.wafRequestsPerAddress, evaluationWindowSec: 300, aggregateKeyType: 'IP' },
      },
      visibilityConfig: measured('requests-per-address'),
    }
    const acl = new CfnWebACL(this, 'Acl', {
      scope,
      description: 'Protects the platform',
      defaultAction: { allow: {} },
      rules: [limit, ...Object.keys(COUNTED).map((group, index) => managed(group, index + 1))],
      visibilityConfig: measured('platform'),
      dataProtectionConfig: {
        dataProtections: [
          ...CREDENTIALS.map((name) => hidden('SINGLE_HEADER', [name])),
          // These contain codes, page cursors and people's text.
          hidden('QUERY_STRING'),
          hidden('BODY'),
        ],
      },
    })
    this.arn = acl.attrArn
    this.#log(acl, config)
  }

  /** Logs requests that a rule refused or counted. The others are in the API's log. */
  #log(acl: CfnWebACL, { logRetentionDays, retainData, kmsKeyArn }: Config): void {
    const logs = new CfnLogGroup(this, 'Logs', {
      // WAF accepts only names that start like this. The group outlives its stack, so the next stack of the same name gets another one.
      logGroupName: Fn.join('-', ['aws-waf-logs', Stack.of(this).stackName, partOfStackId()]),
      retentionInDays: logRetentionDays,
      ...(kmsKeyArn !== undefined && { kmsKeyId: kmsKeyArn }),
    })
    logs.applyRemovalPolicy(retention({ retainData }))
    new CfnLoggingConfiguration(this, 'Logging', {
      resourceArn: acl.attrArn,
      logDestinationConfigs: [
        Stack.of(this).formatArn({
          service: 'logs',
          resource: 'log-group',
          resourceName: logs.ref,
          arnFormat: ArnFormat.COLON_RESOURCE_NAME,
        }),
      ],
      redactedFields: [{ queryString: {} }, ...CREDENTIALS.map((name) => ({ singleHeader: { Name: name } }))],
      loggingFilter: {
        DefaultBehavior: 'DROP',
        Filters: [
          {
            Behavior: 'KEEP',
            Requirement: 'MEETS_ANY',
            Conditions: ['BLOCK', 'COUNT', 'EXCLUDED_AS_COUNT'].map((Action) => ({ ActionCondition: { Action } })),
          },
        ],
      },
    })
  }
}

/** Adds a group of AWS's managed rules in their current version, with some rules set to count only. */
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
