import type { TestPlatform } from '#test/support/platform.ts'
import { AMOUNTS, type Consumption } from './meter.ts'
import type { Installed, Stage } from './stage.ts'

type Message = TestPlatform['messages'][number]

const eventOf = ({ body }: Message): string => {
  const type = (body as { 'detail-type'?: unknown })['detail-type']
  return typeof type === 'string' ? type : ''
}

/** What a message is called in the tables: its queue, and the event where one queue takes several. */
const nameOf = (message: Message): string => [message.queue, eventOf(message)].filter(Boolean).join(': ')

/** Measures every message behind one run, from its start to the last delivery. Several of a kind are averaged. */
const messagesOfRun = async (
  { platform, meter, call, finishedRuns }: Stage,
  app: Installed,
): Promise<[string, Consumption][]> => {
  // The first one makes what later ones only change, such as the feed's head.
  await finishedRuns(app, 1)
  platform.clock.advance(30_000)
  await call('POST', '/api/v1/runs', { token: app.token, body: { input: { name: 'Ada' }, trigger: 'bench' } })
  const found = new Map<string, Consumption[]>()
  for (;;) {
    await platform.deps.bus.put(platform.outbox.splice(0))
    const place = platform.messages.findIndex(({ dueAt }) => dueAt <= platform.clock.now())
    const [next] = place < 0 ? [] : platform.messages.splice(place, 1)
    if (!next) break
    const { consumption } = await meter.during(() => platform.deliver(next))
    found.set(nameOf(next), [...(found.get(nameOf(next)) ?? []), consumption])
  }
  return [...found].map(([name, all]) => [name, mean(all)])
}

/** Measures the messages behind a run: of an installation without a webhook, and what is different with one. */
export const measureWorkers = async (stage: Stage): Promise<{ name: string; consumption: Consumption }[]> => {
  const [silent, subscribed] = [await stage.install(), await stage.install()]
  const body = { url: `${stage.agent.url}/hook`, events: ['run.*'] }
  await stage.call('POST', '/api/v1/webhooks', { token: subscribed.token, body })
  const without = await messagesOfRun(stage, silent)
  const withOne = await messagesOfRun(stage, subscribed)
  return [
    ...without.map(([name, consumption]) => ({ name, consumption })),
    ...withOne
      .filter(([name]) => !name.startsWith('dispatch'))
      .map(([name, consumption]) => ({ name: name === 'delivery' ? name : `${name}, one subscription`, consumption })),
  ]
}

const mean = (all: readonly Consumption[]): Consumption => {
  const of = (field: keyof Consumption): number => all.reduce((sum, one) => sum + one[field], 0) / all.length
  const amounts = Object.fromEntries(AMOUNTS.map((name) => [name, of(name)])) as Pick<
    Consumption,
    (typeof AMOUNTS)[number]
  >
  return { calls: of('calls'), roundTrips: of('roundTrips'), ...amounts }
}
