import { beforeAll, describe, expect, it } from 'vitest'
import type { StandInBot } from '#local/telegram.ts'
import { usingMessenger } from '#test/functions/messenger/support.ts'
import { killing, type Moment } from '#test/support/killing.ts'

const m = usingMessenger()
let workers: ReturnType<typeof killing>
beforeAll(() => {
  workers = killing(m.platform)
})

const SECOND = 1_000
const SAID = ['One', 'Two', 'Three']

/** How a worker dies, and what becomes of the message that it had. */
interface Death {
  moment: Moment
  lose: boolean
}

/**
 * Time goes by in steps of 5 seconds until all is over, with a sweep every half a minute: late in it, which is the worst moment.
 * @throws when it is not over after 5 minutes
 */
const live = async ({ lose }: Death): Promise<void> => {
  await workers.run(lose)
  for (let passed = 5; !(await workers.isOver()); passed += 5) {
    if (passed > 300) throw new Error('it is not over after 5 minutes')
    m.platform.clock.advance(5 * SECOND)
    await workers.run(lose)
    if (passed % 30 === 25) await workers.sweep()
    await workers.run(lose)
  }
}

/** A bot with two chats; in the first a person wrote all of {@link SAID}, in the second one message, between them. */
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

/** Never twice, never out of order, and what a message's status says of it is true. */
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
 * Plays the scene once for every call that its workers make, with a death at that call, until one needs no more calls.
 * @returns how many there were, and what became of the messages when nobody died
 */
const dieEverywhere = async (death: Death, prepare: Prepare) => {
  for (let n = 1; n < 200; n++) {
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
      // One worker dies, so of one message at most nobody can say what became of it.
      expect(all.filter((status) => status === 'unknown').length).toBeLessThanOrEqual(died ? 1 : 0)
      if (!died) return { calls: n - 1, all }
    } catch (error) {
      throw new Error(`with a death ${death.moment} call ${n}: ${(error as Error).message}`, { cause: error })
    }
  }
  throw new Error('the scene has no end')
}

type Prepare = (bot: StandInBot) => void

const sends: Prepare = () => undefined
const isToldToWait: Prepare = (bot) => bot.fail('sendMessage', { retry_after: 12 })
const isRevoked: Prepare = (bot) => bot.revoke()

describe('a messenger worker that dies sends each message at most once and in order, and says what became of it', () => {
  it.each<[string, Death, string, Prepare]>([
    ['before a call; its message comes again', { moment: 'before', lose: false }, 'sends', sends],
    ['after a call; its message comes again', { moment: 'after', lose: false }, 'sends', sends],
    ['before a call; its message is lost', { moment: 'before', lose: true }, 'sends', sends],
    ['after a call; its message is lost', { moment: 'after', lose: true }, 'sends', sends],
    ['before a call; its message is lost', { moment: 'before', lose: true }, 'is told to wait', isToldToWait],
    ['after a call; its message is lost', { moment: 'after', lose: true }, 'is told to wait', isToldToWait],
    ['before a call; its message comes again', { moment: 'before', lose: false }, 'lost its token', isRevoked],
    ['after a call; its message is lost', { moment: 'after', lose: true }, 'lost its token', isRevoked],
  ])(
    '%s %j, and whose bot %s',
    async (_words, death, _bot, prepare) => {
      const { calls, all } = await dieEverywhere(death, prepare)
      expect(new Set(all)).toEqual(new Set([prepare === isRevoked ? 'failed' : 'sent']))
      expect(calls).toBeGreaterThan(prepare === isRevoked ? 6 : 15)
    },
    240_000,
  )
})
