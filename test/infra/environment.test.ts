import { describe, expect, it } from 'vitest'
import { readsKeyObjects, usesDataKeys } from '#infra/grants.ts'
import { RING_NAMES } from '#shared/kernel/ports/keys.ts'
import { queueUrlVariable, readSettings } from '#shared/kernel/settings.ts'
import { functionsOf, plans, synthesize } from './support.ts'

/** Returns the environment as a function sees it, with made-up resource names. */
function environmentOf(name: string, context = {}): Record<string, string> {
  const variables: Record<string, unknown> = functionsOf(synthesize(context).service).get(name)?.Properties.Environment
    .Variables
  const written = (value: unknown) =>
    typeof value === 'string' ? value : `https://${JSON.stringify(value).replaceAll(/\W+/g, '-')}.example`
  return Object.fromEntries(Object.entries(variables).map(([key, value]) => [key, written(value)]))
}

describe('the environment of the functions', () => {
  it.each(plans)('contains what $name reads at its start', ({ name, capabilities, waits }) => {
    const settings = readSettings(environmentOf(name))
    expect(settings).toMatchObject({
      stage: 'dev',
      streaming: waits,
      consoleAutoProvision: false,
      allowLoopbackTargets: false,
      localAdmin: false,
      payloadRetentionDays: 90,
      webhookRetryDelaysSeconds: [10, 60, 300, 1_800, 2, 6],
    })
    expect(settings.bucketName !== undefined).toBe(
      capabilities.some(
        (capability) =>
          /^(objects|files|packages|bucket):|^audit:record$/.test(capability) || readsKeyObjects(capability),
      ),
    )
    expect(settings.keyBucketName !== undefined).toBe(capabilities.some(usesDataKeys))
    expect(settings.busName !== undefined).toBe(capabilities.includes('bus:put'))
    for (const ring of RING_NAMES) {
      expect(settings.secretArns[ring] !== undefined).toBe(capabilities.includes(`keys:${ring}`))
    }
    expect(settings.telegram.secretArn !== undefined).toBe(capabilities.includes('bot'))
    for (const variable of ['TELEGRAM_API_URL', 'TELEGRAM_LINK_URL'])
      expect(environmentOf(name)[variable] !== undefined).toBe(capabilities.includes('bot'))
    expect(settings.model.secretArn).toBeUndefined()
    const withModel = readSettings(environmentOf(name, { modelApiUrl: 'https://model.example/v1' }))
    expect(withModel.model.secretArn !== undefined).toBe(capabilities.includes('model'))
    for (const variable of ['MODEL_API_URL', 'MODEL_NAME'])
      expect(environmentOf(name)[variable] !== undefined).toBe(capabilities.includes('model'))
    for (const queue of ['fanout', 'dispatch', 'delivery', 'approved-tools', 'inline-runs'] as const) {
      expect(environmentOf(name)[queueUrlVariable(queue)] !== undefined).toBe(capabilities.includes(`queue:${queue}`))
    }
  })

  it.each(plans)('has no secret of $name, only the ARN of one', ({ name }) => {
    for (const context of [{}, { stage: 'prod' }, { stage: 'emulator' }]) {
      const variables = functionsOf(synthesize(context).service).get(name)?.Properties.Environment.Variables
      expect(JSON.stringify(variables)).not.toMatch(/resolve:|SecretString|password|local-admin/i)
      const suspicious = Object.keys(variables).filter(
        (key) => /SECRET|KEY|TOKEN|PASSWORD/.test(key) && !/_SECRET_ARN$|_BUCKET_NAME$/.test(key),
      )
      expect(suspicious.filter((key) => key !== 'REFRESH_REUSE_WINDOW_SECONDS')).toEqual([])
    }
  })

  it('has the development switches only in the stages that enable them', () => {
    const switches = ['CONSOLE_AUTO_PROVISION', 'ALLOW_LOOPBACK_TARGETS', 'LOCAL_ADMIN']
    for (const stage of ['dev', 'prod'])
      expect(Object.keys(environmentOf('console', { stage }))).not.toEqual(expect.arrayContaining(switches))
    for (const stage of ['local', 'emulator'])
      expect(environmentOf('console', { stage })).toMatchObject(
        Object.fromEntries(switches.map((name) => [name, 'true'])),
      )
  })

  it('contains the address of Telegram, or of its substitute, for functions that speak for the bot', () => {
    expect(readSettings(environmentOf('messengers'))).toMatchObject({
      telegramApiUrl: 'https://api.telegram.org',
      telegramLinkUrl: 'https://t.me',
    })
    const own = environmentOf('messengers', { telegramApiUrl: 'https://bot-api.example.com/' })
    expect(own.TELEGRAM_API_URL).toBe('https://bot-api.example.com')
  })

  it('contains the address of the model for functions that run inline agents, once the operator sets one', () => {
    expect(readSettings(environmentOf('inline-agents'))).toMatchObject({ modelApiUrl: undefined, modelName: undefined })
    const set = { modelApiUrl: 'https://models.example.com/v1/', modelName: 'small' }
    expect(readSettings(environmentOf('inline-agents', set))).toMatchObject({
      modelApiUrl: 'https://models.example.com/v1',
      modelName: 'small',
    })
  })

  it('is understood by the functions up to the maximum of each setting', () => {
    const most = {
      directoryShards: '256',
      dueShards: '256',
      counterShards: '256',
      payloadRetentionDays: '3650',
      refreshReuseWindowSeconds: '30',
      webhookRetryDelaysSeconds: Array(20).fill(86_400).join(','),
    }
    expect(readSettings(environmentOf('sweeper', most))).toMatchObject({
      directoryShards: 256,
      dueShards: 256,
      counterShards: 256,
      payloadRetentionDays: 3650,
      refreshReuseWindowSeconds: 30,
      webhookRetryDelaysSeconds: Array(20).fill(86_400),
    })
  })

  it('sets buffered answers where the gateway can’t stream', () => {
    expect(environmentOf('api-calls').RESPONSE_MODE).toBe('stream')
    expect(environmentOf('api-calls', { stage: 'emulator' }).RESPONSE_MODE).toBe('buffered')
  })
})
