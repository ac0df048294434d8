import { runInNewContext } from 'node:vm'
import type { Template } from 'aws-cdk-lib/assertions'
import { describe, expect, it } from 'vitest'
import { requestFunctions } from '#functions/registry.ts'
import { type Context, readConfig } from '#infra/config.ts'
import { planRoutes } from '#infra/routes.ts'
import { QUEUES } from '#shared/foundation/queues/queues.ts'
import { SECOND } from '#shared/kernel/clock.ts'
import { ERRORS } from '#shared/kernel/errors.ts'
import { CHAIN_TIME } from '#shared/work/runs/chain.ts'
import { functionsOf, plans, projectContext, type Resource, resources, synthesize } from './support.ts'

const { service, routes, operations } = synthesize()
const text = JSON.stringify
/** Formats a template's value as text, with references as `<id>`. */
const written = (value: unknown): string => {
  if (typeof value === 'string') return value
  const [[name, argument]] = Object.entries(value as object) as [[string, unknown]]
  if (name === 'Fn::Join') return (argument as [string, unknown[]])[1].map(written).join('')
  return `<${name === 'Ref' ? argument : (argument as string[]).join('.')}>`
}
const baseUrlOf = (context: Context) =>
  written(functionsOf(synthesize(context).service).get('api')?.Properties.Environment.Variables.BASE_URL)
const domain = { domainName: 'api.example.com', certificateArn: 'arn:aws:acm:us-east-1:123456789012:certificate/1' }
const zoned = { ...domain, hostedZone: '{"id":"Z1","name":"example.com"}' }
const edge = { edge: true }
/** Independent settings, combined to save a synthesis. */
const custom = {
  ...domain,
  baseUrl: 'https://platform.example.com/',
  reservedConcurrency: '{"api":40}',
  alarmEmail: 'ops@example.com',
}

describe('answers of the gateway itself', () => {
  const responses = resources(routes, 'AWS::ApiGateway::GatewayResponse').map(([, { Properties }]) => Properties)

  it('cover every 4xx and 5xx', () => {
    expect(responses.map((response) => response.ResponseType)).toEqual(
      expect.arrayContaining(['DEFAULT_4XX', 'DEFAULT_5XX']),
    )
  })

  it.each(responses.map((response) => [response.ResponseType, response]))(
    'have the platform’s error body and a request id: %s',
    (_, response) => {
      const { error } = JSON.parse(written(response.ResponseTemplates['application/json']))
      expect(Object.keys(error)).toEqual(['code', 'message', 'fix', 'docs_url', 'request_id', 'details'])
      expect(Object.keys(ERRORS)).toContain(error.code)
      expect(error.request_id).toBe('$context.requestId')
      expect(error.docs_url).toMatch(new RegExp(`/docs#.*${error.code}$`))
      expect(response.ResponseParameters['gatewayresponse.header.X-Request-Id']).toBe('context.requestId')
    },
  )

  it.each([
    ['THROTTLED', '429', 'rate_limited'],
    ['REQUEST_TOO_LARGE', '413', 'payload_too_large'],
    ['MISSING_AUTHENTICATION_TOKEN', '404', 'not_found'],
    ['UNSUPPORTED_MEDIA_TYPE', '415', 'unsupported_media_type'],
    ['INTEGRATION_TIMEOUT', '504', 'internal_error'],
    // A function without a free execution is one.
    ['INTEGRATION_FAILURE', '503', 'unavailable'],
  ])('map %s to %s %s', (type, status, code) => {
    const response = responses.find((item) => item.ResponseType === type)
    expect(response.StatusCode).toBe(status)
    expect(written(response.ResponseTemplates['application/json'])).toContain(`"code":"${code}"`)
  })

  it('say when to retry wherever they are 429 or 503', () => {
    for (const response of responses.filter((item) => ['429', '503'].includes(item.StatusCode))) {
      expect(response.ResponseParameters['gatewayresponse.header.Retry-After']).toMatch(/^'\d+'$/)
    }
  })
})

describe('the stage', () => {
  const [[, stage] = []] = resources(routes, 'AWS::ApiGateway::Stage')

  it('logs each request without query string, headers or bodies', () => {
    const format = stage?.Properties.AccessLogSetting.Format
    expect(Object.keys(JSON.parse(format))).toEqual(expect.arrayContaining(['request_id', 'path', 'status']))
    expect(format).not.toMatch(/querystring|header|authorizer|\$input|body/i)
    for (const settings of stage?.Properties.MethodSettings ?? [{}]) expect(settings.DataTraceEnabled).toBe(false)
  })

  it('compresses large answers for clients that accept it', () => {
    service.hasResourceProperties('AWS::ApiGateway::RestApi', { MinimumCompressionSize: 2048 })
  })

  it('throttles all callers together', () => {
    expect(stage?.Properties.MethodSettings[0]).toMatchObject({
      ResourcePath: '/*',
      HttpMethod: '*',
      ThrottlingRateLimit: 1000,
      ThrottlingBurstLimit: 2000,
    })
  })
})

describe('the base address', () => {
  it('is the stage’s own, built without a reference to the stage, which would depend on the functions', () => {
    expect(baseUrlOf({})).toMatch(/^https:\/\/<Api>\.execute-api\.<AWS::Region>\.<AWS::URLSuffix>\/dev$/)
  })

  it('is the domain if there is one', () => {
    expect(baseUrlOf(zoned)).toBe('https://api.example.com')
    const { service: own, routes } = synthesize(zoned)
    routes.resourceCountIs('AWS::ApiGateway::BasePathMapping', 1)
    expect(resources(own, 'AWS::ApiGateway::RestApi')[0]?.[1].Properties.DisableExecuteApiEndpoint).toBe(true)
  })

  it('is mapped to the stage', () => {
    const { service: own, routes } = synthesize(zoned)
    const [[domain] = []] = resources(own, 'AWS::ApiGateway::DomainName')
    const [[, mapping] = []] = resources(routes, 'AWS::ApiGateway::BasePathMapping')
    expect(mapping?.Properties.DomainName).toEqual({ Ref: domain })
  })

  it('gets a record in the configured zone', () => {
    synthesize(zoned).service.hasResourceProperties('AWS::Route53::RecordSet', {
      Name: 'api.example.com.',
      HostedZoneId: 'Z1',
    })
  })

  it('is the edge’s if there is one, which restores the name of WWW-Authenticate', () => {
    expect(baseUrlOf(edge)).toMatch(/^https:\/\/<Edge\w+\.DomainName>$/)
    const { service: edged } = synthesize(edge)
    const [[, distribution] = []] = resources(edged, 'AWS::CloudFront::Distribution')
    const { Origins, DefaultCacheBehavior } = distribution?.Properties.DistributionConfig ?? {}
    expect(Origins[0].OriginPath).toBe('/dev')
    expect(DefaultCacheBehavior.LambdaFunctionAssociations[0].EventType).toBe('origin-response')
    expect(DefaultCacheBehavior.AllowedMethods).toContain('DELETE')
  })

  it('behind the edge, accepts only requests with the key that the edge sends', () => {
    const { service: edged, routes: keyed } = synthesize(edge)
    const [[, distribution] = []] = resources(edged, 'AWS::CloudFront::Distribution')
    const [sent] = distribution?.Properties.DistributionConfig.Origins[0].OriginCustomHeaders ?? []
    const keys = resources(edged, 'AWS::ApiGateway::ApiKey').map(([, { Properties }]) => Properties.Value)
    expect(sent.HeaderName).toBe('x-api-key')
    // Its generated secret, resolved by CloudFormation.
    expect(text(sent.HeaderValue)).toMatch(/\{\{resolve:secretsmanager:.*EdgeKey.*:SecretString:::\}\}/)
    expect(keys).toContainEqual(sent.HeaderValue)
    const methods = resources(keyed, 'AWS::ApiGateway::Method')
    expect(methods.length).toBeGreaterThan(0)
    for (const [, { Properties }] of methods) expect(Properties.ApiKeyRequired).toBe(true)
    const [[, plan] = []] = resources(keyed, 'AWS::ApiGateway::UsagePlan')
    expect(plan?.Properties.ApiStages).toHaveLength(1)
    expect(plan?.Properties.Throttle ?? plan?.Properties.Quota).toBeUndefined()
    // Also accepts the next key, which the edge doesn't send yet.
    keyed.resourceCountIs('AWS::ApiGateway::UsagePlanKey', 2)
    // Without the edge no key exists or is required.
    service.resourceCountIs('AWS::ApiGateway::ApiKey', 0)
    for (const [, { Properties }] of resources(routes, 'AWS::ApiGateway::Method'))
      expect(Properties.ApiKeyRequired).not.toBe(true)
  })

  it('rotates the edge’s key without refusing requests: the next key is accepted before it is sent, and keys in use never change', () => {
    const stages = [1, 2, 3].map((edgeKey) => synthesize({ ...edge, edgeKey }))
    const described = stages.map(({ service: edged }) => {
      const [[, distribution] = []] = resources(edged, 'AWS::CloudFront::Distribution')
      const [sent] = distribution?.Properties.DistributionConfig.Origins[0].OriginCustomHeaders ?? []
      return {
        sent: text(sent.HeaderValue),
        taken: resources(edged, 'AWS::ApiGateway::ApiKey').map(([, { Properties }]) => text(Properties.Value)),
        made: new Map(resources(edged, 'AWS::SecretsManager::Secret').filter(([id]) => id.startsWith('EdgeKey'))),
      }
    })
    for (const [i, { sent, taken, made }] of described.entries()) {
      expect(taken).toHaveLength(2)
      expect(taken).toContain(sent)
      const before = described[i - 1]
      if (before === undefined) continue
      expect(sent).not.toBe(before.sent)
      // While CloudFront spreads the change, edges send either key.
      expect(before.taken).toContain(sent)
      for (const key of before.taken.filter((one) => taken.includes(one))) {
        const [id = ''] = [...made.keys()].filter((one) => key.includes(one))
        expect(made.get(id)).toEqual(before.made.get(id))
      }
    }
  })

  it('behind the edge, passes the client’s real address to functions, whatever the client claims', () => {
    const { service: edged } = synthesize(edge)
    const [[, code] = []] = resources(edged, 'AWS::CloudFront::Function')
    const run = runInNewContext(`${code?.Properties.FunctionCode}; handler`)
    const headers = { accept: { value: '*/*' }, 'x-viewer-address': { value: '192.0.2.1' } }
    expect(run({ viewer: { ip: '2001:db8::7' }, request: { uri: '/', headers } })).toEqual({
      uri: '/',
      headers: { accept: { value: '*/*' }, 'x-viewer-address': { value: '2001:db8::7' } },
    })
    const [[, distribution] = []] = resources(edged, 'AWS::CloudFront::Distribution')
    const [association] = distribution?.Properties.DistributionConfig.DefaultCacheBehavior.FunctionAssociations ?? []
    expect(association.EventType).toBe('viewer-request')
    for (const [, { Properties }] of functionsOf(edged)) expect(Properties.Environment.Variables.EDGE).toBe('true')
    for (const [, { Properties }] of functionsOf(service)) expect(Properties.Environment.Variables.EDGE).toBeUndefined()
  })

  it('is the edge’s in other regions too, with the function where CloudFront looks for it', () => {
    expect(() => synthesize(edge, {}, 'eu-central-1')).not.toThrow()
    expect(() => readConfig({ ...projectContext(), ...edge }, {})).toThrow(/edge: the region must be known/)
  })

  it('gets records for IPv4 and IPv6 at the edge, and for IPv4 without it', () => {
    const types = (context: Context) =>
      resources(synthesize(context).service, 'AWS::Route53::RecordSet').map(([, { Properties }]) => Properties.Type)
    expect(types({ ...zoned, ...edge })).toEqual(['A', 'AAAA'])
    expect(types(zoned)).toEqual(['A'])
  })

  it.each(['us-east-1', 'eu-central-1'])(
    'of a stage in %s leaves the function that CloudFront has copied when it is deleted or changes, because Lambda refuses for hours',
    (region) => {
      const { service: edged, edge: elsewhere } = synthesize({ ...edge, stage: 'dev', waf: false }, {}, region)
      const template = elsewhere ?? edged
      expect(elsewhere === undefined).toBe(region === 'us-east-1')
      const copied = (Object.values(template.toJSON().Resources) as Resource[]).filter(
        ({ Type, Properties }) =>
          (Type === 'AWS::Lambda::Function' && Properties.Runtime === 'nodejs22.x') ||
          (Type === 'AWS::Lambda::Version' && !JSON.stringify(Properties.FunctionName).includes('Function"')),
      )
      expect(copied.map(({ Type }) => Type).sort()).toEqual(['AWS::Lambda::Function', 'AWS::Lambda::Version'])
      for (const { DeletionPolicy, UpdateReplacePolicy } of copied)
        expect([DeletionPolicy, UpdateReplacePolicy]).toEqual(['RetainExceptOnCreate', 'Retain'])
    },
  )

  it('is the domain at the edge, if there are both', () => {
    expect(baseUrlOf({ ...domain, ...edge })).toBe('https://api.example.com')
  })

  it('is the configured address before all others', () => {
    expect(baseUrlOf(custom)).toBe('https://platform.example.com')
  })
})

/** Lists the metrics of all alarms, including those in expressions. */
const watchedMetrics = (template: Template): { MetricName: string; Dimensions?: { Value: unknown }[] }[] =>
  resources(template, 'AWS::CloudWatch::Alarm').flatMap(([, { Properties }]) =>
    (Properties.Metrics ?? [{ MetricStat: { Metric: Properties } }]).flatMap(
      ({ MetricStat }: { MetricStat?: { Metric: never } }) => MetricStat?.Metric ?? [],
    ),
  )

describe('the functions', () => {
  it.each(plans)(
    '$name runs on Node.js 24 on ARM, writes its own JSON, and keeps its log for a set time',
    ({ name, timeoutSeconds }) => {
      const lambda = functionsOf(service).get(name)
      expect(lambda?.Properties).toMatchObject({
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        Handler: 'index.handler',
        Timeout: timeoutSeconds,
        LoggingConfig: { LogFormat: 'JSON', SystemLogLevel: 'WARN', ApplicationLogLevel: 'TRACE' },
      })
      const group = service.toJSON().Resources[lambda?.Properties.LoggingConfig.LogGroup.Ref]
      expect(group.Properties.RetentionInDays).toBe(7)
    },
  )

  it('time out with the gateway, unless they serve long-running calls', () => {
    for (const plan of plans.filter(({ workers }) => workers.length === 0))
      expect(plan.timeoutSeconds).toBe(plan.waits ? 300 : 29)
  })

  it('reserve concurrency in production stages for waiting requests, streams, the staff, and workers as much as their queues may use', () => {
    const limits = (context: Context) =>
      Object.fromEntries(
        [...functionsOf(synthesize(context).service)].map(([name, { Properties }]) => [
          name,
          Properties.ReservedConcurrentExecutions,
        ]),
      )
    const reserved = limits({ stage: 'prod' })
    for (const { name, workers } of plans) {
      if (workers.length === 0 && !['api-calls', 'streams', 'admin', 'admin-calls'].includes(name))
        expect(reserved[name], name).toBeUndefined()
      else expect(reserved[name], name).toBeGreaterThan(0)
    }
    expect(reserved.delivery).toBe(QUEUES.delivery.maxConcurrency)
    const total = Object.values(reserved).reduce((sum, n = 0) => sum + n, 0)
    // An account has 1,000 executions by default. The rest serves sign-ins, the console and the plain API, and Lambda keeps 100.
    expect({ waiting: reserved['api-calls'], rest: 1_000 - total }).toEqual({ waiting: 250, rest: 131 })
    expect(Object.values(limits({ stage: 'prod', reservedConcurrency: '{}' })).every((n) => n === undefined)).toBe(true)
    expect(Object.values(limits({ stage: 'dev' })).every((n) => n === undefined)).toBe(true)
  })

  it('share no throttle between people’s pages and the public API, and no method loses its log', () => {
    const { routes: throttled } = synthesize({
      throttle: '{"rate":900,"burst":1800}',
      pagesThrottle: '{"rate":30,"burst":60}',
    })
    const [[, stage] = []] = resources(throttled, 'AWS::ApiGateway::Stage')
    const settings: { ResourcePath: string; HttpMethod: string; ThrottlingRateLimit: number; LoggingLevel: string }[] =
      stage?.Properties.MethodSettings
    const pages = planRoutes(requestFunctions).filter(({ path }) => /^\/(console|admin)(\/|$)/.test(path))
    expect(
      settings.map(({ ResourcePath, HttpMethod, ThrottlingRateLimit }) => [
        ResourcePath,
        HttpMethod,
        ThrottlingRateLimit,
      ]),
    ).toEqual([['/*', '*', 900], ...pages.map(({ path, method }) => [`/${path.replaceAll('/', '~1')}`, method, 30])])
    for (const { LoggingLevel } of settings) expect(LoggingLevel).toBe('ERROR')
  })

  it('may take as long behind the edge as a chain of agents', () => {
    const { service: edged } = synthesize(edge)
    const [[, distribution] = []] = resources(edged, 'AWS::CloudFront::Distribution')
    const [origin] = distribution?.Properties.DistributionConfig.Origins ?? []
    expect(origin.CustomOriginConfig.OriginReadTimeout * SECOND).toBeGreaterThanOrEqual(CHAIN_TIME)
  })

  it('take reserved concurrency from the settings', () => {
    const { service: reserved } = synthesize(custom)
    expect(functionsOf(reserved).get('api')?.Properties.ReservedConcurrentExecutions).toBe(40)
  })
})

describe('alarms', () => {
  it('notify the configured address', () => {
    const { operations: configured } = synthesize(custom)
    configured.hasResourceProperties('AWS::SNS::Subscription', { Protocol: 'email', Endpoint: 'ops@example.com' })
    operations.resourceCountIs('AWS::SNS::Subscription', 0)
  })

  it('watch the API, the table and the relay', () => {
    const metrics = new Set(watchedMetrics(operations).map(({ MetricName }) => MetricName))
    expect([...metrics]).toEqual(
      expect.arrayContaining([
        '5XXError',
        'ReadThrottleEvents',
        'WriteThrottleEvents',
        'IteratorAge',
        'FailedInvocations',
      ]),
    )
  })
})
