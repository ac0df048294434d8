import { beforeEach, expect, it } from 'vitest'
import { CardWatchEntity } from '#shared/catalogue/agent-cards/entity.ts'
import { DeveloperEntity } from '#shared/identity/developers/entity.ts'
import { DAY, MINUTE } from '#shared/kernel/clock.ts'
import { newApp, newDeveloper, publish, type TestApp, type TestDeveloper } from '#testkit/developers.ts'
import { killAfter } from '#testkit/faults.ts'
import { succeeded } from '#testkit/platform.ts'
import { json } from '#testkit/receiver.ts'
import { usingReceiver } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { cardAt } from './outside-support.ts'

const platform = usingPlatform()
const agent = usingReceiver()
let developer: TestDeveloper
let app: TestApp
let card: unknown

const runtime = () => ({ type: 'a2a', card_url: `${agent.url}/card.json?${app.id}` })
/** E-mails to the developer. Cards of earlier tests are looked at, too. */
const mails = () => platform.mails.filter(({ text }) => text.includes(app.id))
const looks = () => agent.requests.filter(({ path }) => path.endsWith(app.id))
const read = async () => (await developer.call('GET', `/api/v1/dev/apps/${app.id}/versions`)).body.items[0]

const passing = async (...times: number[]) => {
  for (const time of times) {
    platform.clock.advance(time)
    await platform.sweep()
    await platform.drain()
  }
}

/** Lets a day pass, with the look at its end and the e-mail after it. */
const dayPasses = () => passing(DAY, MINUTE, 2 * MINUTE)

beforeEach(async () => {
  platform.clock.advance(2 * MINUTE)
  developer = await newDeveloper(platform)
  const verified = { email_verified_at: platform.clock.now() }
  await platform.deps.table.transact([DeveloperEntity.update({ id: developer.id }, { set: verified })])
  app = await newApp(developer)
  agent.answer(() => (card === undefined ? json({}, 404) : json(card)))
  card = cardAt(agent.url)
  await succeeded(publish(developer, app, { runtime: runtime() }))
  agent.requests.length = 0
  platform.mails.length = 0
})

it('the card of an outside agent is checked once a day, and nobody is notified while it doesn’t change', async () => {
  // Signatures may differ in every copy.
  card = { ...cardAt(agent.url), signatures: [{ protected: 'e30', signature: 'x' }] }
  await dayPasses()
  await dayPasses()
  expect(looks()).toHaveLength(2)
  expect((await read()).card_change).toBeUndefined()
  expect(mails()).toEqual([])
})

it('the developer is notified once of a changed card, and the change ends when the card is as before', async () => {
  card = cardAt(agent.url, { description: 'Sells more.' })
  await dayPasses()
  await dayPasses()
  expect((await read()).card_change).toEqual({ found_at: expect.any(String) })
  expect(mails()).toMatchObject([
    { to: expect.stringContaining('@'), subject: expect.stringMatching(/^The A2A card of .* has changed – /) },
  ])
  expect(mails()[0]?.text).toContain('publish another version')
  card = cardAt(agent.url)
  await dayPasses()
  expect((await read()).card_change).toBeUndefined()
  expect(mails()).toHaveLength(1)
})

it('the developer is notified in the language of the browser in which they last signed in by e-mail', async () => {
  const { email } = (await developer.call('GET', '/api/v1/dev/me')).body
  const headers = { 'accept-language': 'de-DE,de;q=0.9,en;q=0.8' }
  await platform.call('POST', '/api/v1/dev/sign-in', { body: { email }, headers })
  const mail = platform.mails.at(-1)
  expect(mail?.subject).toContain('Anmeldung im Entwicklerportal')
  expect(mail?.text).toContain('Um dich anzumelden, öffne diesen Link')
  const token = /#\/sign-in\/(dvt_\S+)/.exec(mail?.text ?? '')?.[1]
  expect((await platform.call('POST', '/api/v1/dev/session', { body: { token }, headers })).status).toBe(201)
  card = cardAt(agent.url, { description: 'Sells more.' })
  await dayPasses()
  expect(mails()).toMatchObject([{ subject: expect.stringContaining('hat sich geändert') }])
})

it('the developer is notified on the third day of a card that can’t be used', async () => {
  card = undefined
  await dayPasses()
  await dayPasses()
  expect((await read()).card_change).toBeUndefined()
  await dayPasses()
  expect((await read()).card_change).toMatchObject({ problem: expect.stringContaining('404') })
  expect(mails()).toHaveLength(1)
})

it('the developer is notified once even if the worker dies at any point of a check', async () => {
  for (let n = 1, reached = true; reached; n++) {
    card = cardAt(agent.url, { description: `Change ${n}` })
    platform.mails.length = 0
    platform.clock.advance(DAY)
    await platform.sweep()
    await platform.deps.bus.put(platform.outbox.splice(0))
    const death = killAfter(platform, n)
    const lost: typeof platform.messages = []
    for (const message of platform.messages.splice(0)) if (!(await platform.deliver(message))) lost.push(message)
    reached = death.restore()
    platform.messages.push(...lost)
    await platform.drain()
    await passing(4 * MINUTE, 4 * MINUTE, 4 * MINUTE)
    expect(mails(), `killed after ${n}`).toHaveLength(1)
  }
})

it('the next version is checked instead, unless it has another runtime', async () => {
  card = cardAt(agent.url, { description: 'Sells more.' })
  await publish(developer, app, { version: '1.1.0', runtime: runtime() })
  await dayPasses()
  expect((await read()).card_change).toBeUndefined()
  platform.clock.advance(2 * MINUTE)
  await publish(developer, app, {
    version: '1.2.0',
    runtime: { type: 'webhook', endpoint: 'https://agent.example/run' },
  })
  expect(await platform.deps.table.get(CardWatchEntity, { app_id: app.id })).toBeUndefined()
})
