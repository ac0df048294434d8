import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { runJourney } from '#examples/demo/journey.ts'
import { type Platform, startPlatform } from '#local/platform.ts'
import { BUNDLES, prepare, ROOT } from '#local/prepare.ts'
import { must, newAgent } from '#test/e2e/support.ts'
import { scratchFolder } from '#test/support/scratch.ts'
import { CASES, fileOf, type RecordedCase } from './cases.ts'
import { stable } from './stable.ts'

/**
 * Records the events of `events/` again (`npm run record`): starts the platform, sends the requests of the table, runs the
 * demo for what the other triggers bring, and keeps what each function got, with stable ids and times.
 */
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

const typeOf = ({ body, dynamodb }: Batched): string | undefined =>
  body === undefined ? dynamodb?.NewImage?.type?.S : JSON.parse(body)['detail-type']

/** How many messages came together depends on the moment; what is recorded does not. */
const find = (one: RecordedCase): object => {
  const events = seen.get(one.function) ?? []
  const records = events.flatMap((event) => (event as { Records?: Batched[] }).Records ?? [])
  const found = one.carries
    ? { Records: one.carries.flatMap((type) => records.find((record) => typeOf(record) === type) ?? []) }
    : ((records[0] && { Records: [records[0]] }) ?? events[0])
  if (found === undefined || (one.carries && one.carries.length !== (found as { Records: unknown[] }).Records.length)) {
    throw new Error(`${one.function} did not get what ${fileOf(one)} is to hold`)
  }
  return found
}

/** The demo's agent is a service of its own; this one would run on a language model, if there was one. */
const runInlineAgent = async (baseUrl: string): Promise<void> => {
  const { app, headers } = await newAgent(baseUrl, { runtime: { type: 'inline', instructions: 'You greet people.' } })
  await must(baseUrl, 'POST', `/api/v1/dev/apps/${app.id}/test-run`, { headers, body: {} })
}

/** The customer of the demo has seen enough. */
const uninstall = async (baseUrl: string, token: string): Promise<void> => {
  const { items } = await must(baseUrl, 'GET', '/console/installations', { token })
  await must(baseUrl, 'DELETE', `/console/installations/${items[0].id}`, { token })
}

/** Somebody writes to a bot of that customer's, and is answered. */
const answerInMessenger = async ({ baseUrl, telegram }: Platform, token: string): Promise<void> => {
  const bot = telegram.bot({ token: '424243:bot-of-a-customer', username: 'greeter_bot' })
  await must(baseUrl, 'POST', '/console/messenger/accounts/bot', { token, body: { token: bot.token } })
  bot.say(telegram.person({ first_name: 'Cleo' }), 'Hello')
  await telegram.settled()
  const { items } = await must(baseUrl, 'GET', '/console/messenger/chats', { token })
  await must(baseUrl, 'POST', `/console/messenger/chats/${items[0].id}/messages`, { token, body: { text: 'Hi' } })
}

const keep = (one: RecordedCase, event: object): void => {
  const file = path.join(ROOT, fileOf(one))
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(file, `${JSON.stringify(stable(event), null, 2)}\n`)
  console.log(fileOf(one))
}

const { folder: dataDir, remove } = scratchFolder('record-')
const cdkOut = path.join(dataDir, 'cdk.out')
await prepare({ cdkOut })
const platform = await startPlatform({ dataDir, cdkOut, bundles: BUNDLES })
try {
  watch(platform)
  for (const one of CASES) {
    if (!one.request) continue
    seen.get(one.function)?.splice(0)
    await send(platform.baseUrl, one)
    keep(one, find(one))
  }
  const { consoleToken } = await runJourney({ baseUrl: platform.baseUrl, adminKey: 'local-admin-key' })
  await uninstall(platform.baseUrl, consoleToken)
  await runInlineAgent(platform.baseUrl)
  await answerInMessenger(platform, consoleToken)
  await platform.idle()
  await platform.fire('overdue-sweep')
  await platform.fire('workspace-removal')
  for (const one of CASES) if (!one.request) keep(one, find(one))
} finally {
  await platform.stop()
  remove()
}
