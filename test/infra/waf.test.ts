import { describe, expect, it } from 'vitest'
import { resources, synthesize } from './support.ts'

const { service, routes } = synthesize({ waf: true, wafRequestsPerAddress: '500' })
const edged = synthesize({ waf: true, edge: true })
const acls = [...resources(service, 'AWS::WAFv2::WebACL'), ...resources(edged.service, 'AWS::WAFv2::WebACL')]
type Rule = {
  Name: string
  Statement: {
    RateBasedStatement?: { Limit: number; AggregateKeyType: string }
    ManagedRuleGroupStatement?: { RuleActionOverrides?: { Name: string; ActionToUse: object }[] }
  }
}

describe('the web ACL', () => {
  it('protects the API’s stage', () => {
    const [[id, acl] = ['']] = resources(service, 'AWS::WAFv2::WebACL')
    expect(acl?.Properties.Scope).toBe('REGIONAL')
    const [[, association] = []] = resources(routes, 'AWS::WAFv2::WebACLAssociation')
    expect(association?.Properties.WebACLArn).toEqual({ 'Fn::GetAtt': [id, 'Arn'] })
    expect(JSON.stringify(association?.Properties.ResourceArn)).toContain('/stages/')
  })

  it('protects the edge if there is one, because behind it all addresses are CloudFront’s', () => {
    const [[id, acl] = ['']] = resources(edged.service, 'AWS::WAFv2::WebACL')
    expect(acl?.Properties.Scope).toBe('CLOUDFRONT')
    const [[, distribution] = []] = resources(edged.service, 'AWS::CloudFront::Distribution')
    expect(distribution?.Properties.DistributionConfig.WebACLId).toEqual({ 'Fn::GetAtt': [id, 'Arn'] })
    edged.routes.resourceCountIs('AWS::WAFv2::WebACLAssociation', 0)
  })

  it('refuses an address that asks too often, by the setting', () => {
    const [[, acl] = []] = resources(service, 'AWS::WAFv2::WebACL')
    const [limit] = (acl?.Properties.Rules ?? []) as Rule[]
    expect(limit?.Statement.RateBasedStatement).toMatchObject({ Limit: 500, AggregateKeyType: 'IP' })
  })

  it.each(acls)('of %s only counts matches in bodies, which hold texts of people and agents up to 6 MB', (_, acl) => {
    const counted = (acl.Properties.Rules as Rule[]).flatMap(({ Statement }) =>
      (Statement.ManagedRuleGroupStatement?.RuleActionOverrides ?? []).map(({ Name, ActionToUse }) => {
        expect(ActionToUse).toEqual({ Count: {} })
        return Name
      }),
    )
    // Every rule on bodies in the two groups.
    for (const part of ['SizeRestrictions', 'CrossSiteScripting', 'GenericLFI', 'GenericRFI', 'EC2MetaDataSSRF'])
      expect(counted).toContain(`${part}_BODY`)
    for (const part of ['Log4JRCE', 'JavaDeserializationRCE', 'ReactJSRCE']) expect(counted).toContain(`${part}_BODY`)
    // A native client's redirect URI is a numeric address.
    expect(counted).toContain('GenericRFI_QUERYARGUMENTS')
  })

  it.each(acls)('of %s hides credentials in its samples', (_, acl) => {
    const hidden = acl.Properties.DataProtectionConfig.DataProtections.map(
      ({ Field }: { Field: { FieldType: string; FieldKeys?: string[] } }) => Field.FieldKeys?.[0] ?? Field.FieldType,
    )
    expect(hidden).toEqual(
      expect.arrayContaining(['authorization', 'cookie', 'x-admin-key', 'x-developer-key', 'QUERY_STRING', 'BODY']),
    )
  })

  it.each([service, edged.service])(
    'logs what it refuses and counts, without credentials and query strings',
    (template) => {
      const [[group] = ['']] = resources(template, 'AWS::Logs::LogGroup').filter(([, { Properties }]) =>
        JSON.stringify(Properties.LogGroupName ?? '').includes('aws-waf-logs-'),
      )
      const [[, logging] = []] = resources(template, 'AWS::WAFv2::LoggingConfiguration')
      expect(JSON.stringify(logging?.Properties.LogDestinationConfigs)).toContain(group)
      const fields: { QueryString?: object; SingleHeader?: { Name: string } }[] = logging?.Properties.RedactedFields
      expect(fields.some(({ QueryString }) => QueryString)).toBe(true)
      expect(fields.map(({ SingleHeader }) => SingleHeader?.Name)).toEqual(
        expect.arrayContaining(['authorization', 'cookie', 'x-admin-key', 'x-developer-key']),
      )
      expect(logging?.Properties.LoggingFilter.DefaultBehavior).toBe('DROP')
    },
  )

  it('leaves no request to the edge unlogged, and logs no query string, which can have codes and tokens', () => {
    const [[, delivery] = []] = resources(edged.service, 'AWS::Logs::Delivery')
    expect(delivery?.Properties.RecordFields).toEqual(expect.arrayContaining(['c-ip', 'cs-uri-stem', 'sc-status']))
    expect(JSON.stringify(delivery?.Properties.RecordFields)).not.toMatch(/query|cookie|referer/i)
    const elsewhere = synthesize({ edge: true, waf: false }, {}, 'eu-central-1')
    elsewhere.service.resourceCountIs('AWS::Logs::Delivery', 0)
  })
})
