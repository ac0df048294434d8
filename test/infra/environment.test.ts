import { describe, expect, it } from 'vitest'
import { queueUrlVariable, readSettings } from '#shared/kernel/settings.ts'
import { functionsOf, plans, synthesize } from './support.ts'

/** The environment as a function would see it, with the resources' names made up. */
function environmentOf(name: string, context = {}): Record<string, string> {
  const variables: Record<string, unknown> = functionsOf(synthesize(context).service).get(name)?.Properties.Environment
    .Variables
  const written = (value: unknown) =>
    typeof value === 'string' ? value : `https://${JSON.stringify(value).replaceAll(/\W+/g, '-')}.example`
  return Object.fromEntries(Object.entries(variables).map(([key, value]) => [key, written(value)]))
}

describe('the environment of the functions', () => {
  it.each(plans)('is what $name reads at its start', ({ name, capabilities, waits }) => {
    const settings = readSettings(environmentOf(name))
    expect(settings).toMatchObject({
      stage: 'dev',
      streaming: waits,
      consoleAutoProvision: false,
      allowLoopbackTargets: false,
      localAdmin: false,
      payloadRetentionDays: 90,
      webhookRetryDelaysMs: [10_000, 60_000, 300_000, 1_800_000, 2_000, 6_000],
    })
    expect(settings.bucketName !== undefined).toBe(
      capabilities.some((capability) => /^(objects|files):/.test(capability)),
    )
    expect(settings.busName !== undefined).toBe(capabilities.includes('bus:put'))
    for (const ring of ['tokens', 'admin', 'data'] as const) {
      expect(settings.secretArns[ring] !== undefined).toBe(capabilities.includes(`keys:${ring}`))
    }
    expect(settings.telegram.secretArn !== undefined).toBe(capabilities.includes('bot'))
    for (const variable of ['TELEGRAM_API_URL', 'TELEGRAM_LINK_URL'])
      expect(environmentOf(name)[variable] !== undefined).toBe(capabilities.includes('bot'))
    expect(settings.model.secretArn !== undefined).toBe(capabilities.includes('model'))
    for (const variable of ['MODEL_API_URL', 'MODEL_NAME'])
      expect(environmentOf(name)[variable] !== undefined).toBe(capabilities.includes('model'))
    for (const queue of ['fanout', 'dispatch', 'delivery', 'approved-tools', 'inline-runs'] as const) {
      expect(environmentOf(name)[queueUrlVariable(queue)] !== undefined).toBe(capabilities.includes(`queue:${queue}`))
    }
  })

  it.each(plans)('holds no secret of $name, only where one is kept', ({ name }) => {
    for (const context of [{}, { stage: 'prod' }, { stage: 'emulator' }]) {
      const variables = functionsOf(synthesize(context).service).get(name)?.Properties.Environment.Variables
      expect(JSON.stringify(variables)).not.toMatch(/resolve:|SecretString|password|local-admin/i)
      const suspicious = Object.keys(variables).filter(
        (key) => /SECRET|KEY|TOKEN|PASSWORD/.test(key) && !key.endsWith('_SECRET_ARN'),
      )
      expect(suspicious.filter((key) => key !== 'REFRESH_REUSE_WINDOW_SECONDS')).toEqual([])
    }
  })

  it('names the switches for development in the stages that have them only', () => {
    const switches = ['CONSOLE_AUTO_PROVISION', 'ALLOW_LOOPBACK_TARGETS', 'LOCAL_ADMIN']
    for (const stage of ['dev', 'prod'])
      expect(Object.keys(environmentOf('console', { stage }))).not.toEqual(expect.arrayContaining(switches))
    for (const stage of ['local', 'emulator'])
      expect(environmentOf('console', { stage })).toMatchObject(
        Object.fromEntries(switches.map((name) => [name, 'true'])),
      )
  })

  it('tells who speaks for the bot where Telegram is, or what stands for it', () => {
    expect(readSettings(environmentOf('bot')).telegram).toMatchObject({
      apiUrl: 'https://api.telegram.org',
      linkUrl: 'https://t.me',
    })
    const own = environmentOf('bot', { telegramApiUrl: 'https://bot-api.example.com/' })
    expect(own.TELEGRAM_API_URL).toBe('https://bot-api.example.com')
  })

  it('tells who runs inline agents where the model is; nowhere unless the operator says so', () => {
    expect(readSettings(environmentOf('inline-agents')).model).toMatchObject({ apiUrl: undefined, name: undefined })
    const set = { modelApiUrl: 'https://models.example.com/v1/', modelName: 'small' }
    expect(readSettings(environmentOf('inline-agents', set)).model).toMatchObject({
      apiUrl: 'https://models.example.com/v1',
      name: 'small',
    })
  })

  it('is understood by the functions up to the most that each setting takes', () => {
    const most = {
      directoryShards: '256',
      payloadRetentionDays: '3650',
      refreshReuseWindowSeconds: '30',
      webhookRetryDelaysSeconds: Array(20).fill(86_400).join(','),
    }
    expect(readSettings(environmentOf('overdue-sweep', most))).toMatchObject({
      directoryShards: 256,
      payloadRetentionDays: 3650,
      refreshReuseWindowMs: 30_000,
      webhookRetryDelaysMs: Array(20).fill(86_400_000),
    })
  })

  it('answers buffered where the gateway cannot stream', () => {
    expect(environmentOf('agent-calls').RESPONSE_MODE).toBe('stream')
    expect(environmentOf('agent-calls', { stage: 'emulator' }).RESPONSE_MODE).toBe('buffered')
  })
})
