import { once } from 'node:events'
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { WebSocket } from 'ws'
import { runA2aJourney } from '#examples/demo/a2a.ts'
import { runJourney } from '#examples/demo/journey.ts'
import { type Platform, startPlatform } from '#local/platform.ts'
import { queueUrlVariable } from '#shared/kernel/settings.ts'
import { must, newAgent } from '#test/e2e/support.ts'
import { ASSEMBLY } from '#testkit/assembly.ts'
import { scratchFolder } from '#testkit/scratch.ts'
import { CASES, fileOf, type RecordedCase } from './cases.ts'
import { stable } from './stable.ts'

/** Events of each function since the last request. */
const seen = new Map<string, object[]>()

const watch = (platform: Platform): void => {
  for (const { name } of platform.model.functions) {
    const events: object[] = []
    seen.set(name, events)
    platform.intercept(name, (event, next) => {
      events.push(structuredClone(event as object))
      return next(event)
    })
  }
}

const send = async (baseUrl: string, { request }: RecordedCase): Promise<void> => {
  if (!request) return
  const { method, body, form, headers } = request
  const response = await fetch(baseUrl + request.path, {
    method,
    headers: { accept: '*/*', ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(form !== undefined && { body: new URLSearchParams(form) }),
  })
  await response.arrayBuffer()
}

interface Batched {
  body?: string
  dynamodb?: { NewImage?: { type?: { S: string } } }
}

const typeOf = ({ body, dynamodb }: Batched): string | undefined => {
  if (body === undefined) return dynamodb?.NewImage?.type?.S
  const message = JSON.parse(body)
  return message.kind === 'event' ? message.event.type : (message.kind ?? message['detail-type'])
}

/** Batch sizes depend on timing; the recorded ones must not. */
const find = (one: RecordedCase): object => {
  const all = seen.get(one.function) ?? []
  // A function may have a queue and a schedule.
  const events =
    one.trigger === 'schedule' || one.trigger === 'websocket' ? all.filter((event) => !('Records' in event)) : all
  const records = events.flatMap((event) => (event as { Records?: Batched[] }).Records ?? [])
  const found = one.carries
    ? { Records: one.carries.flatMap((type) => records.find((record) => typeOf(record) === type) ?? []) }
    : ((records[0] && { Records: [records[0]] }) ?? events[0])
  if (found === undefined || (one.carries && one.carries.length !== (found as { Records: unknown[] }).Records.length)) {
    const had = records.map(typeOf).join(', ')
    throw new Error(`${one.function} did not get the event of ${fileOf(one)}, only ${had || 'none'}`)
  }
  return found
}

/**
 * Runs an inline agent, because the demo's agent is its own service. It would use a language model if one were
 * configured.
 */
const runInlineAgent = async (baseUrl: string): Promise<void> => {
  const { app, headers } = await newAgent(baseUrl, { runtime: { type: 'inline', instructions: 'You greet people.' } })
  await must(baseUrl, 'POST', `/api/v1/dev/apps/${app.id}/test-run`, { headers, body: {} })
}

/** Uninstalls the demo's agent, so that its removal is recorded. */
const uninstall = async (baseUrl: string, token: string): Promise<void> => {
  const { items } = await must(baseUrl, 'GET', '/console/installations', { token })
  await must(baseUrl, 'DELETE', `/console/installations/${items[0].id}`, { token })
}

/** Sends a message to a bot of that customer, and an answer. */
const answerInMessenger = async ({ baseUrl, telegram }: Platform, token: string): Promise<void> => {
  const bot = telegram.bot({ token: '424243:bot-of-a-customer', username: 'greeter_bot' })
  await must(baseUrl, 'POST', '/console/messenger/accounts/bot', { token, body: { token: bot.token } })
  bot.say(telegram.person({ first_name: 'Cleo' }), 'Hello')
  await telegram.settled()
  const { items } = await must(baseUrl, 'GET', '/console/messenger/chats', { token })
  await must(baseUrl, 'POST', `/console/messenger/chats/${items[0].id}/messages`, { token, body: { text: 'Hi' } })
}

/** Opens a page's live connection, so that changes are pushed to it. */
const showPage = async (baseUrl: string, token: string): Promise<void> => {
  const page = new WebSocket(`${baseUrl.replace('http', 'ws')}/live`)
  await once(page, 'open')
  page.send(JSON.stringify({ type: 'hello', token }))
  await once(page, 'message')
}

/** Runs the demo of A2A, whose outside agent sends notifications, and asks for push notifications of a task. */
const talkOverA2a = async (baseUrl: string): Promise<void> => {
  const { address, token } = await runA2aJourney({ baseUrl })
  await must(address, 'POST', '/message:send', {
    token,
    headers: { 'a2a-version': '1.0' },
    body: {
      message: {
        messageId: 'message-1',
        role: 'ROLE_USER',
        parts: [{ data: { skill: 'count', arguments: {} } }],
      },
      configuration: { returnImmediately: true, taskPushNotificationConfig: { url: 'http://127.0.0.1:9/push' } },
    },
  })
}

/** Sends a shard of overdue work to the worker that gets it after an outage. */
const handOverShard = async ({ model, client, endpoints }: Platform): Promise<void> => {
  seen.get('sweeper')?.splice(0)
  const QueueUrl = model.functions.find(({ name }) => name === 'sweeper')?.environment[queueUrlVariable('overdue')]
  const sqs = new SQSClient({ ...client, endpoint: endpoints.sqs })
  await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: JSON.stringify({ shard: 0 }) }))
  sqs.destroy()
}

/**
 * Returns the text of each file of `events/`. Starts the platform, sends the requests of the cases, runs the demo for the other
 * triggers, and keeps each function's event with stable ids and times.
 */
export const recordEvents = async (): Promise<Map<string, string>> => {
  const files = new Map<string, string>()
  const keep = (one: RecordedCase): void => {
    files.set(fileOf(one), `${JSON.stringify(stable(find(one)), null, 2)}\n`)
  }
  const { folder: dataDir, remove } = scratchFolder('record-')
  const platform = await startPlatform({ dataDir, ...ASSEMBLY })
  try {
    watch(platform)
    for (const one of CASES) {
      if (!one.request) continue
      seen.get(one.function)?.splice(0)
      await send(platform.baseUrl, one)
      keep(one)
    }
    const { consoleToken } = await runJourney({ baseUrl: platform.baseUrl, adminKey: 'local-admin-key' })
    await showPage(platform.baseUrl, consoleToken)
    await uninstall(platform.baseUrl, consoleToken)
    await runInlineAgent(platform.baseUrl)
    await answerInMessenger(platform, consoleToken)
    await talkOverA2a(platform.baseUrl)
    await handOverShard(platform)
    await platform.idle()
    await platform.fire('sweeper')
    await platform.fire('removals')
    await platform.fire('audit')
    for (const one of CASES) if (!one.request) keep(one)
    return files
  } finally {
    await platform.stop()
    remove()
  }
}
