import { describe, expect, it } from 'vitest'
import { type Context, readConfig } from '#infra/config.ts'
import { projectContext, registry, synthesize } from './support.ts'

const read = (context: Context, env = {}) => readConfig({ ...projectContext(), ...context }, env)

describe('deployment settings', () => {
  it('come from the stage in cdk.json, overridden by the command line', () => {
    expect(read({}).stage).toBe('dev')
    expect(read({}, { DEPLOY_STAGE: 'prod' }).stage).toBe('prod')
    expect(read({ stage: 'prod' }, { DEPLOY_STAGE: 'dev' })).toMatchObject({
      stage: 'prod',
      logRetentionDays: 90,
      retainData: true,
    })
    expect(read({ stage: 'prod', logRetentionDays: '365', throttle: '{"rate":10,"burst":20}' })).toMatchObject({
      logRetentionDays: 365,
      throttle: { rate: 10, burst: 20 },
    })
    expect(read({ webhookRetryDelaysSeconds: '1,2,3' }).webhookRetryDelaysSeconds).toEqual([1, 2, 3])
    expect(read({ webhookRetryPreset: 'day' }).webhookRetryDelaysSeconds).toEqual([10, 60, 300, 1_800, 7_200, 21_600])
  })

  it('protect production stages by default, unless a setting turns that off', () => {
    const production = read({ stage: 'prod' })
    expect([production.waf, production.production]).toEqual([true, true])
    expect(read({ stage: 'prod', waf: 'false' }).waf).toBe(false)
    for (const stage of ['dev', 'local', 'emulator'])
      expect(read({ stage }, { AWS_REGION: 'us-east-1' }).waf).toBe(false)
    expect(() => readConfig({ stage: 'prod', edge: true }, { AWS_REGION: 'eu-central-1' })).toThrow(/waf: with edge/)
  })

  it('have the contract’s values by default', () => {
    expect(readConfig({}, {})).toMatchObject({
      streaming: true,
      retainData: true,
      addressRateLimits: true,
      refreshReuseWindowSeconds: 0,
      payloadRetentionDays: 90,
      webhookRetryDelaysSeconds: [10, 60, 300, 1800, 2, 6],
    })
  })

  it('stand next to the scope of the packages, which is the same for all stages', () => {
    expect(() => read({ packageScope: '@acme' })).not.toThrow()
    expect(() => read({ stages: { dev: { packageScope: '@acme' } } })).toThrow(/packageScope: no such setting/)
  })

  it('ignore the CDK’s own entries in the same context', () => {
    expect(() =>
      read({ '@aws-cdk/core:newStyle': true, 'availability-zones:account=1:region=x': [], 'aws:cdk:toolkit': 1 }),
    ).not.toThrow()
  })

  it.each<[string, Context, RegExp]>([
    ['stage', { stage: 'Dev!' }, /stage: use up to 20 lower-case letters.*-c stage=/],
    [
      'an unknown name',
      { refreshReuseWindow: 5 },
      /refreshReuseWindow: no such setting; did you mean refreshReuseWindowSeconds\?/,
    ],
    [
      'an unknown name in cdk.json',
      { stages: { dev: { retaindata: false } } },
      /retaindata: no such setting.*context\.stages\.dev\.retaindata in cdk\.json/,
    ],
    [
      'refreshReuseWindowSeconds',
      { refreshReuseWindowSeconds: '31' },
      /refreshReuseWindowSeconds: use a whole number from 0 to 30/,
    ],
    [
      'dueShards below directoryShards, which no sweep would read',
      { directoryShards: 16, dueShards: 8 },
      /dueShards: is below directoryShards \(16\), .*; use at least 16/,
    ],
    ['counterShards below directoryShards', { counterShards: 4 }, /counterShards: is below directoryShards \(8\)/],
    [
      'webhookRetryPreset next to a schedule',
      { webhookRetryPreset: 'day', webhookRetryDelaysSeconds: '1,2,3' },
      /webhookRetryPreset: is a schedule, and webhookRetryDelaysSeconds gives another/,
    ],
    ['webhookRetryPreset', { webhookRetryPreset: 'week' }, /webhookRetryPreset: use day/],
    ['webhookRetryDelaysSeconds', { webhookRetryDelaysSeconds: '10,soon' }, /webhookRetryDelaysSeconds/],
    ['webhookRetryDelaysSeconds over a day', { webhookRetryDelaysSeconds: [86_401] }, /webhookRetryDelaysSeconds/],
    ['deployment', { deployment: 'canary' }, /deployment: use allAtOnce, canary10Percent5Minutes/],
    ['wafRequestsPerAddress', { wafRequestsPerAddress: 5 }, /wafRequestsPerAddress: /],
    ['alarmTopicArn', { alarmTopicArn: 'alarms' }, /alarmTopicArn: use the ARN of a topic in SNS/],
    ['stageName', { stageName: 'v 1' }, /stageName: use letters, digits, hyphens and underscores/],
    ['tags', { tags: '{"aws:team":"a"}' }, /tags: use keys of up to 128 letters/],
    ['reserved tags of AWS', { tags: '{"AWS:team":"a"}' }, /tags: use keys of up to 128 letters/],
    ['tags that IAM refuses', { tags: '{"team":"R&D"}' }, /tags: use values of up to 256 letters/],
    ['the tag of the stage', { tags: '{"stage":"a"}' }, /tags: stage is what tells the stages apart/],
    [
      'provisionedConcurrency',
      { provisionedConcurrency: '{"api":5}', reservedConcurrency: '{"api":4}' },
      /provisionedConcurrency: api keeps 5 warm, but reservedConcurrency lets it have 4/,
    ],
    ['logRetentionDays', { logRetentionDays: 8 }, /logRetentionDays: use one of the periods/],
    ['alarmEmail', { alarmEmail: 'nobody' }, /alarmEmail: use an e-mail address/],
    ['edge', { edge: 'perhaps' }, /edge: use true or false/],
    ['throttle', { throttle: '{"rate"' }, /throttle: is not JSON/],
    ['queueConcurrency', { queueConcurrency: '{"fanout":1}' }, /queueConcurrency\.fanout: use a whole number/],
    ['queueConcurrency of an unknown queue', { queueConcurrency: '{"fan":5}' }, /queueConcurrency/],
    ['reservedConcurrency', { reservedConcurrency: '{"api":-1}' }, /reservedConcurrency\.api: use a whole number/],
    [
      'consoleAutoProvision',
      { consoleAutoProvision: true },
      /consoleAutoProvision: .*local and emulator only; leave it out of dev/,
    ],
    [
      'allowLoopbackTargets',
      { stage: 'prod', allowLoopbackTargets: 'true' },
      /allowLoopbackTargets: .*leave it out of prod/,
    ],
    ['localAdmin', { localAdmin: true }, /localAdmin: /],
    ['streaming', { streaming: false }, /streaming: false is for emulators/],
    [
      'backup',
      { backupCopyVaultArn: 'arn:aws:backup:eu-west-1:123456789012:backup-vault:copies' },
      /backup: is needed with/,
    ],
    ['monthlyBudget', { costMonitorArn: 'arn:aws:ce::123456789012:anomalymonitor/1' }, /monthlyBudget: is needed with/],
    ['alarmFormulas', { alarmFormulas: false }, /alarmFormulas: false is for emulators/],
    ['baseUrl', { baseUrl: 'http://api.example.com' }, /baseUrl: must begin with https/],
    ['an invalid baseUrl', { baseUrl: 'api.example.com' }, /baseUrl: use an absolute URL/],
    [
      'telegramApiUrl',
      { telegramApiUrl: 'http://127.0.0.1:8081' },
      /telegramApiUrl: must begin with https:.*local and emulator/,
    ],
    [
      'telegramApiUrl over plain HTTP',
      { stage: 'local', telegramApiUrl: 'http://example.com' },
      /telegramApiUrl: must begin/,
    ],
    ['modelApiUrl', { modelApiUrl: 'http://models.example.com/v1' }, /modelApiUrl: must begin with https/],
    ['modelApiUrl with a key', { modelApiUrl: 'https://k@m.example.com' }, /modelApiUrl: .*the credentials/],
    ['telegramLinkUrl', { telegramLinkUrl: 'https://t.me/?a=b' }, /telegramLinkUrl: .*leave out the query/],
    ['an invalid telegramLinkUrl', { telegramLinkUrl: 't.me' }, /telegramLinkUrl: use an absolute URL/],
    ['retainData', { stage: 'prod', retainData: false }, /retainData: false would delete the data of prod/],
    ['certificateArn', { domainName: 'api.example.com' }, /certificateArn: is needed with domainName/],
    ['domainName', { hostedZone: '{"id":"Z1","name":"example.com"}' }, /domainName: is needed/],
    [
      'certificateArn in another region',
      {
        edge: true,
        domainName: 'api.example.com',
        certificateArn: 'arn:aws:acm:eu-central-1:123456789012:certificate/1',
      },
      /certificateArn: is in eu-central-1; CloudFront takes certificates of us-east-1 only/,
    ],
  ])('that are invalid fail the synth by name: %s', (_, context, message) => {
    expect(() => read(context)).toThrow(message)
  })

  it('that belong to another region than the stage’s are refused', () => {
    const elsewhere = (context: Context, region: string) => read(context, { AWS_REGION: region })
    const topic = { alarmTopicArn: 'arn:aws:sns:us-east-1:123456789012:pager' }
    expect(() => elsewhere(topic, 'eu-central-1')).toThrow(/alarmTopicArn: is in us-east-1; alarms of eu-central-1/)
    expect(() => elsewhere(topic, 'us-east-1')).not.toThrow()
    const certificateArn = 'arn:aws:acm:us-east-1:123456789012:certificate/1'
    const domain = { domainName: 'api.example.com', certificateArn }
    expect(() => elsewhere(domain, 'eu-west-1')).toThrow(/certificateArn: is in us-east-1; without edge .* eu-west-1/)
    expect(() => elsewhere(domain, 'us-east-1')).not.toThrow()
    const restored = {
      restoredTableStreamArn: 'arn:aws:dynamodb:us-east-1:123456789012:table/t/stream/2026-11-22T08:15:00.000',
    }
    expect(() => elsewhere(restored, 'eu-west-1')).toThrow(/restoredTableStreamArn: is in us-east-1; .* eu-west-1/)
    const guarded = { waf: true, edge: true }
    expect(() => elsewhere(guarded, 'eu-central-1')).toThrow(/waf: with edge .* has to be in us-east-1/)
    expect(() => elsewhere(guarded, 'us-east-1')).not.toThrow()
    expect(() => elsewhere({ waf: true }, 'eu-central-1')).not.toThrow()
  })

  it('that are invalid are all reported at once', () => {
    expect(() => read({ edge: 'x', alarmEmail: 'x', nothing: 1 })).toThrow(/edge.*alarmEmail.*nothing/s)
  })

  it('refuse concurrency for an unknown function', () => {
    for (const setting of ['reservedConcurrency', 'provisionedConcurrency'])
      expect(() => synthesize({ [setting]: '{"apy":5}' })).toThrow(`${setting}.apy: there is no such function`)
  })

  it('refuse a function that mixes long-running calls with others', () => {
    const endpoints = Object.values(registry.requestFunctions).flat()
    const waiting = endpoints.filter((endpoint) => endpoint.waits === true).slice(0, 1)
    const requestFunctions = {
      ...registry.requestFunctions,
      'api-calls': [...waiting, ...endpoints.filter((item) => !item.waits).slice(0, 1)],
    }
    expect(() => synthesize({}, { registry: { ...registry, requestFunctions } })).toThrow(
      /api-calls: .* waits and others do not/,
    )
  })

  it('refuse to deploy a function without a bundle', () => {
    expect(() => synthesize({}, { bundles: '/nowhere' })).toThrow(/is not bundled: run npm run build/)
  })
})
