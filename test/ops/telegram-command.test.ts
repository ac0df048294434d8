import { writeFileSync } from 'node:fs'
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { GetSecretValueCommand, PutSecretValueCommand } from '@aws-sdk/client-secrets-manager'
import { Api } from 'grammy'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createTelegram, type Telegram } from '#local/telegram.ts'
import { temporaryFolder, until } from '#test/local/support.ts'
import { runCommand } from '#testkit/command.ts'
import { startServices } from '#testkit/services.ts'

const TOKEN = '110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw'
const ANOTHER = '220201543:BBHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw'
const WEBHOOK_SECRET = 'w'.repeat(64)
const SECRET_ARN = 'arn:aws:secretsmanager:us-east-1:000000000000:secret:bot-abcdef'

const place = temporaryFolder()
let services: Awaited<ReturnType<typeof startServices>>
let telegram: Telegram
let platform: Server
let baseUrl: string
/** Secrets that came with updates. */
let arrived: unknown[]
/** The platform's answer. */
let status: number
/** Operations of Secrets Manager. */
let calls: string[]

beforeEach(async () => {
  const value = JSON.stringify({ token: '', webhook_secret: WEBHOOK_SECRET })
  const secrets = [{ name: 'bot', arn: SECRET_ARN, generate: undefined, value }]
  services = await startServices({ dataDir: place.folder, secrets })
  calls = []
  services.onAwsCall(({ operation, phase }) => {
    if (phase === 'after') calls.push(operation)
  })
  telegram = await createTelegram({ token: TOKEN, username: 'test_bot', retryDelaysMs: [20] })
  arrived = []
  status = 200
  platform = createServer((request, response) => {
    request.resume()
    if (request.url === '/stage/console/bot/webhook') arrived.push(request.headers['x-telegram-bot-api-secret-token'])
    response.writeHead(status).end()
  })
  await new Promise<void>((resolve) => platform.listen(0, '127.0.0.1', resolve))
  baseUrl = `http://127.0.0.1:${(platform.address() as AddressInfo).port}/stage`
})
afterEach(async () => {
  await keep({ token: '', webhook_secret: WEBHOOK_SECRET })
  await Promise.all([telegram.stop(), services.stop()])
  platform.close()
  place.remove()
})

const keep = (value: unknown) =>
  services.secrets.send(new PutSecretValueCommand({ SecretId: SECRET_ARN, SecretString: JSON.stringify(value) }))
const kept = async () => {
  const { SecretString = '' } = await services.secrets.send(new GetSecretValueCommand({ SecretId: SECRET_ARN }))
  return JSON.parse(SecretString)
}

/** Runs the operator's command as a shell would. */
const run = (args: string[], { input, env = {} }: { input?: string; env?: Record<string, string> } = {}) =>
  runCommand('ops/telegram.ts', args, {
    input,
    env: {
      AWS_ACCESS_KEY_ID: services.config.credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: services.config.credentials.secretAccessKey,
      AWS_ENDPOINT_URL_SECRETS_MANAGER: services.address,
      ...env,
    },
  })

const here = () => ['--stage', 'local', '--secret-id', SECRET_ARN, '--base-url', baseUrl, '--api-url', telegram.url]

test('the local Secrets Manager, which checks no signature, answers only to names of this machine', async () => {
  const ask = (host: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      const headers = { host, 'x-amz-target': 'secretsmanager.GetSecretValue' }
      request(services.address, { method: 'POST', headers }, (answer) => resolve(answer.resume().statusCode))
        .once('error', reject)
        .end(JSON.stringify({ SecretId: SECRET_ARN }))
    })
  // A page whose name is rebound to this machine would read every key of the local run.
  expect(await ask('rebound.example')).toBe(403)
  expect(await ask(new URL(services.address).host)).toBe(200)
})

/** Writes to the bot. @returns the secret that the platform received */
const secretOfUpdate = async () => {
  telegram.say(telegram.person({ first_name: 'Ada' }), '/start')
  await telegram.settled()
  return arrived.at(-1)
}

describe('npm run telegram', () => {
  test('stores the token, sets webhook and commands, and never shows the token', async () => {
    const { code, output } = await run(here(), { input: `${TOKEN}\n` })
    expect(output).toBe(
      `@test_bot sends its updates to ${baseUrl}/console/bot/webhook.\nIts token is stored in the stack’s secret.\n` +
        'Running functions read the secret again within five minutes.\n',
    )
    expect(code).toBe(0)
    expect(await kept()).toEqual({ token: TOKEN, webhook_secret: WEBHOOK_SECRET })
    const api = new Api(TOKEN, { apiRoot: telegram.url })
    expect(await api.getWebhookInfo()).toMatchObject({
      allowed_updates: [
        'message',
        'callback_query',
        'business_connection',
        'business_message',
        'edited_business_message',
        'deleted_business_messages',
      ],
    })
    expect(await api.getMyCommands()).toEqual([
      { command: 'inbox', description: 'What waits for you' },
      { command: 'start', description: 'What this bot is for' },
    ])
    expect(await secretOfUpdate()).toBe(WEBHOOK_SECRET)
  })

  test('runs again without the token, writes nothing, and passes on Telegram’s last error', async () => {
    await run(here(), { input: TOKEN })
    status = 503
    telegram.say(telegram.person({ first_name: 'Ada' }), '/start')
    await until(() => arrived[0])
    status = 200
    await telegram.settled()
    calls = []
    const { code, output } = await run(here())
    expect(output).toBe(
      `@test_bot sends its updates to ${baseUrl}/console/bot/webhook.\nIts token hasn’t changed.\n` +
        'Telegram’s last error about the webhook: Wrong response from the webhook: 503 Service Unavailable\n',
    )
    expect([code, ...calls]).toEqual([0, 'GetSecretValue'])
    expect(await secretOfUpdate()).toBe(WEBHOOK_SECRET)
  })

  test('reads the token from a file, and generates a new webhook secret on request', async () => {
    const file = path.join(place.folder, 'token')
    writeFileSync(file, `${TOKEN}\n`)
    const { code } = await run([...here(), '--token-file', file, '--rotate'])
    expect(code).toBe(0)
    const { token, webhook_secret: secret } = await kept()
    expect(token).toBe(TOKEN)
    expect(secret).toMatch(/^[0-9a-f]{64}$/)
    expect(await secretOfUpdate()).toBe(secret)
  })

  test('gives another bot a new webhook secret, because the previous bot knows the old one', async () => {
    await keep({ token: ANOTHER, webhook_secret: WEBHOOK_SECRET })
    const { code, output } = await run(here(), { input: TOKEN })
    expect(output).toContain('bot 220201543 was connected before')
    expect(code).toBe(0)
    expect((await kept()).webhook_secret).not.toBe(WEBHOOK_SECRET)
  })

  /** The Bot API with a second bot, which this command may have connected earlier. */
  const withAnother = async () => {
    const another = await createTelegram({ token: ANOTHER, username: 'another_bot' })
    const both = createServer(async (request, response) => {
      const { url: target } = request.url?.startsWith(`/bot${ANOTHER}/`) ? another : telegram
      const [type, body] = [request.headers['content-type'] ?? '', await text(request)]
      const answer = await fetch(target + request.url, { method: 'POST', headers: { 'content-type': type }, body })
      response.writeHead(answer.status).end(await answer.text())
    })
    await new Promise<void>((resolve) => both.listen(0, '127.0.0.1', resolve))
    const apiUrl = `http://127.0.0.1:${(both.address() as AddressInfo).port}`
    const api = new Api(ANOTHER, { apiRoot: another.url })
    return {
      api,
      args: ['--api-url', apiUrl],
      stop: async () => {
        both.close()
        await another.stop()
      },
    }
  }

  test('disconnects the previous bot from this stage, unless another one uses it by now', async () => {
    const { api, args, stop } = await withAnother()
    const elsewhere = 'http://127.0.0.1:1/console/bot/webhook'
    for (const [url, left, note] of [
      [`${baseUrl}/console/bot/webhook`, '', '@another_bot was connected before'],
      [elsewhere, elsewhere, undefined],
    ] as const) {
      await keep({ token: ANOTHER, webhook_secret: WEBHOOK_SECRET })
      await api.setWebhook(url)
      const { code, output } = await run([...here(), ...args], { input: TOKEN })
      expect(code, output).toBe(0)
      expect((await api.getWebhookInfo()).url).toBe(left)
      expect(output.includes('connected before')).toBe(note !== undefined)
    }
    await stop()
  })

  test('doesn’t take a bot away from another stage without the option for it', async () => {
    const api = new Api(TOKEN, { apiRoot: telegram.url })
    const elsewhere = 'http://127.0.0.1:1/console/bot/webhook'
    await api.setWebhook(elsewhere)
    const refused = await run(here(), { input: TOKEN })
    expect(refused.output).toBe(
      `@test_bot sends its updates to ${elsewhere}: another stage has it. Is --stage right? Give --take-over to move it here.\n`,
    )
    expect(refused.code).toBe(1)
    expect((await kept()).token).toBe('')
    expect((await api.getWebhookInfo()).url).toBe(elsewhere)
    expect((await run([...here(), '--take-over'], { input: TOKEN })).code).toBe(0)
    expect((await api.getWebhookInfo()).url).toBe(`${baseUrl}/console/bot/webhook`)
    // A stage that already uses the bot may have moved to another base address.
    await api.setWebhook(elsewhere)
    const moved = await run(here())
    expect([moved.code, moved.output]).toEqual([0, expect.stringContaining(`Until now it sent them to ${elsewhere}.`)])
  })

  test('completes on the next run what stopped halfway', async () => {
    telegram.fail('setWebhook', { error_code: 500, description: 'Internal Server Error' })
    const first = await run([...here(), '--rotate'], { input: TOKEN })
    expect(first.output).toBe('Telegram refused the request (Internal Server Error).\n')
    expect(first.code).toBe(1)
    expect((await run(here())).code).toBe(0)
    expect(await secretOfUpdate()).toBe((await kept()).webhook_secret)
  })

  test('finds address and secret of a stage in its stack’s outputs', async () => {
    const asked: string[] = []
    const member = (key: string, value: string) =>
      `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`
    let outputs = member('BaseUrl', baseUrl) + member('TelegramBotSecret', SECRET_ARN)
    const cloudFormation = createServer(async (request, response) => {
      let text = ''
      for await (const piece of request) text += piece
      asked.push(new URLSearchParams(text).get('StackName') ?? '')
      response.writeHead(200, { 'content-type': 'text/xml' })
      response.end(
        `<DescribeStacksResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"><DescribeStacksResult><Stacks><member><StackName>x</StackName><Outputs>${outputs}</Outputs></member></Stacks></DescribeStacksResult></DescribeStacksResponse>`,
      )
    })
    await new Promise<void>((resolve) => cloudFormation.listen(0, '127.0.0.1', resolve))
    const endpoint = `http://127.0.0.1:${(cloudFormation.address() as AddressInfo).port}`
    const env = { AWS_ENDPOINT_URL_CLOUDFORMATION: endpoint }
    const args = ['--stage', 'emulator', '--api-url', telegram.url]
    const found = await run(args, { input: TOKEN, env })
    expect(found.output).toContain(`${baseUrl}/console/bot/webhook`)
    expect(asked).toEqual(['Platform-emulator-Service'])
    outputs = member('BaseUrl', baseUrl)
    const old = await run(args, { input: TOKEN, env })
    expect(old.output).toBe(
      'The stack Platform-emulator-Service has no output TelegramBotSecret. Deploy it again first.\n',
    )
    cloudFormation.close()
  })

  test.each<[string, () => string[], string | undefined, RegExp, number?]>([
    ['no token', here, undefined, /^No token is stored yet\. Give the one from @BotFather: --token-file/],
    ['an invalid token', here, 'hello', /^That isn’t the token of a bot\. Copy it from @BotFather/],
    [
      'a token that Telegram doesn’t know',
      here,
      `${TOKEN}x`,
      /^Telegram doesn’t know this token \(Unauthorized\)\. Copy/,
    ],
    [
      'a Bot API that doesn’t answer',
      () => [...here().slice(0, -1), 'http://127.0.0.1:1'],
      TOKEN,
      /^http:\/\/127\.0\.0\.1:1 doesn’t answer \(no answer: \w+\)\. Try again\.\n$/,
    ],
    [
      'a token among the arguments',
      () => [...here(), TOKEN],
      undefined,
      /^A token as an argument would be visible to others/,
    ],
    ['a token as an option', () => [...here(), `--token=${TOKEN}`], undefined, /^Unknown option '--token'/, 2],
    ['half of the place', () => here().slice(0, 4), TOKEN, /^Give --secret-id and --base-url together\.\n$/],
    [
      'a Bot API over plain HTTP',
      () => ['--stage', 'prod', ...here().slice(2)],
      TOKEN,
      /telegramApiUrl: must begin with https/,
    ],
    [
      'a base address that Telegram can’t reach',
      () => [...here(), '--base-url', 'http://example.com'],
      TOKEN,
      /^Telegram refused the request \(Bad Request: bad webhook: An HTTPS URL must be provided for webhook\)\.\n$/,
    ],
  ])('says what is wrong without showing the token: %s', async (_, args, input, message, exitCode = 1) => {
    const { code, output } = await run(args(), input === undefined ? {} : { input })
    expect(output).toMatch(message)
    expect(output).not.toContain(TOKEN.slice(10))
    expect(code).toBe(exitCode)
  })

  test('quotes nothing of a secret that isn’t a bot’s', async () => {
    await keep({ current: 'k1', k1: 'very secret' })
    const { output } = await run(here(), { input: TOKEN })
    expect(output).toMatch(/^The bot’s secret isn’t \{"token", "webhook_secret"\}/)
    expect(output).not.toContain('very secret')
  })
})
