import { beforeAll, describe, expect, it } from 'vitest'
import type { StandInBot } from '#local/telegram.ts'
import { usingMessenger } from '#test/functions/console/messenger-support.ts'
import { killing, type Moment } from '#testkit/killing.ts'
import { deathsAt } from '#testkit/sampling.ts'

const m = usingMessenger()
let workers: ReturnType<typeof killing>
beforeAll(() => {
  workers = killing(m.platform)
})

const SECOND = 1_000
const SAID = ['One', 'Two', 'Three']

/** The moment of a worker's death, and whether its message is lost. */
interface Death {
  moment: Moment
  lose: boolean
}

/**
 * Lets time pass in steps of 5 seconds until all is done. A sweep runs every half minute, late within it, which is the
 * worst moment.
 * @throws if work remains after 5 minutes
 */
const live = async ({ lose }: Death): Promise<void> => {
  await workers.run(lose)
  for (let passed = 5; !(await workers.isOver()); passed += 5) {
    if (passed > 300) throw new Error('work remains after 5 minutes')
    m.platform.clock.advance(5 * SECOND)
    await workers.run(lose)
    if (passed % 30 === 25) await workers.sweep()
    await workers.run(lose)
  }
}

/**
 * Sets up a bot with two chats. Sends all of {@link SAID} in the first chat, and one message between them in the
 * second.
 */
const scene = async () => {
  const { admin, bot } = await m.connected()
  const contact = m.newPerson()
  const other = m.newPerson()
  bot.say(other, 'Hello')
  await m.settle()
  m.platform.clock.advance(SECOND)
  bot.say(contact, 'Hello')
  await m.settle()
  const { body } = await m.call(admin, 'GET', '/chats')
  const [chat, otherChat] = body.items.map(({ id }: { id: string }) => id) as [string, string]
  for (const text of SAID) {
    await m.call(admin, 'POST', `/chats/${chat}/messages`, { text })
    if (text === SAID[1]) await m.call(admin, 'POST', `/chats/${otherChat}/messages`, { text: 'Elsewhere' })
    m.platform.clock.advance(10)
  }
  const heardBy = (person: typeof contact) =>
    bot
      .chat(person)
      .filter(({ from }) => from.is_bot)
      .map(({ text }) => text)
  const outcomes = async (id: string) =>
    (await m.messages(admin, id))
      .filter(({ direction }: { direction: string }) => direction === 'out')
      .map(({ text, status }: { text: string; status: string }) => ({ text, status }))
  return { bot, contact, other, chat, otherChat, heardBy, outcomes }
}

interface Outcome {
  text: string
  status: string
}

/** Asserts that no message is repeated or out of order, and that each message's status is true. */
const checkChat = (heard: readonly string[], outcomes: readonly Outcome[]): void => {
  expect(heard, 'heard in order, each once').toEqual(
    outcomes.map(({ text }) => text).filter((text) => heard.includes(text)),
  )
  for (const { text, status } of outcomes) {
    const possible = heard.includes(text) ? ['sent', 'unknown'] : ['failed', 'unknown']
    expect(possible, `what became of ${text}`).toContain(status)
  }
}

/**
 * Plays the scene with a death at each call that its workers make, or at a sample of them, until none dies.
 * @returns the number of calls, and the messages' statuses without a death
 */
const dieEverywhere = async (death: Death, prepare: Prepare) => {
  for (const n of deathsAt(200, 10)) {
    const { bot, contact, other, chat, otherChat, heardBy, outcomes } = await scene()
    prepare(bot)
    workers.arm(n, death.moment)
    try {
      await live(death)
      const died = workers.disarm()
      const [here, elsewhere] = [await outcomes(chat), await outcomes(otherChat)]
      expect(here.map(({ text }: Outcome) => text)).toEqual(SAID)
      checkChat(heardBy(contact), here)
      checkChat(heardBy(other), elsewhere)
      const all: string[] = [...here, ...elsewhere].map(({ status }: Outcome) => status)
      // One worker dies, so at most one message may have an unknown outcome.
      expect(all.filter((status) => status === 'unknown').length).toBeLessThanOrEqual(died ? 1 : 0)
      if (!died) return { calls: workers.calls(), all }
    } catch (error) {
      throw new Error(`with a death ${death.moment} call ${n}: ${(error as Error).message}`, { cause: error })
    }
  }
  throw new Error('the scene doesn’t end')
}

type Prepare = (bot: StandInBot) => void

const sends: Prepare = () => undefined
const isToldToWait: Prepare = (bot) => bot.fail('sendMessage', { retry_after: 12 })
const isRevoked: Prepare = (bot) => bot.revoke()

describe('a messenger worker that dies sends each message at most once and in order, and reports its outcome', () => {
  it.each<[string, Death, string, Prepare]>([
    ['before a call; its message is redelivered', { moment: 'before', lose: false }, 'sends', sends],
    ['after a call; its message is redelivered', { moment: 'after', lose: false }, 'sends', sends],
    ['before a call; its message is lost', { moment: 'before', lose: true }, 'sends', sends],
    ['after a call; its message is lost', { moment: 'after', lose: true }, 'sends', sends],
    ['before a call; its message is lost', { moment: 'before', lose: true }, 'is told to wait', isToldToWait],
    ['after a call; its message is lost', { moment: 'after', lose: true }, 'is told to wait', isToldToWait],
    ['before a call; its message is redelivered', { moment: 'before', lose: false }, 'lost its token', isRevoked],
    ['after a call; its message is lost', { moment: 'after', lose: true }, 'lost its token', isRevoked],
  ])(
    '%s %j, with a bot that %s',
    async (_words, death, _bot, prepare) => {
      const { calls, all } = await dieEverywhere(death, prepare)
      expect(new Set(all)).toEqual(new Set([prepare === isRevoked ? 'failed' : 'sent']))
      expect(calls).toBeGreaterThan(prepare === isRevoked ? 6 : 15)
    },
    240_000,
  )
})
