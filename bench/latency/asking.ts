import { setTimeout as pause } from 'node:timers/promises'
import { startReceiver } from '#testkit/receiver.ts'
import { startStage } from '../endpoints/stage.ts'
import { type Client, createPair } from './setup.ts'

/** Number of calls, within an installation's rate limit. */
const CALLS = 28
/** First calls, which load modules and aren't measured. */
const FIRST = 3
const METERED_CALLS = 5

/** Milliseconds after which the asked agent answers. */
const ANSWERS_AFTER = [0, 50] as const

/** Time of `ask_agent` in addition to the asked agent's own time. */
export interface Asking {
  answersAfter: number
  /** Milliseconds from the call to its answer, without the asked agent's own time. */
  added: number[]
  /** Calls to the store that the waiting request makes, in one process. */
  storeCalls: number[]
}

/** Asks an agent that answers at once, and one that takes its time, one call after the other. */
export const measureAsking = async (call: Client): Promise<Asking[]> => {
  const all: Asking[] = []
  for (const answersAfter of ANSWERS_AFTER) {
    const added = await addedBy(call, answersAfter)
    all.push({ answersAfter, added, storeCalls: await storeCallsOf(answersAfter) })
  }
  return all
}

/** Starts an agent that answers after a number of milliseconds, and reports how long its last answer really took. */
const startTarget = async (answersAfter: number) => {
  const receiver = await startReceiver()
  const target = { url: receiver.url, took: 0, close: () => receiver.close() }
  receiver.answer(async () => {
    const arrived = performance.now()
    if (answersAfter > 0) await pause(answersAfter)
    target.took = performance.now() - arrived
    return { kind: 'answer', status: 200, body: JSON.stringify({ status: 'succeeded', output: { text: 'Hello!' } }) }
  })
  return target
}

const requireAnswer = (result: { status?: string } | undefined): void => {
  if (result?.status !== 'succeeded') throw new Error(`ask_agent answered ${JSON.stringify(result)}`)
}

/** Measures calls over HTTP against the local run. */
const addedBy = async (call: Client, answersAfter: number): Promise<number[]> => {
  const target = await startTarget(answersAfter)
  try {
    const ask = await createPair(call, target.url)
    const added: number[] = []
    for (let n = 0; n < CALLS; n++) {
      const begun = performance.now()
      const { result } = await ask()
      const ms = performance.now() - begun
      requireAnswer(result)
      if (n >= FIRST) added.push(ms - target.took)
    }
    return added
  } finally {
    await target.close()
  }
}

/** Counts store calls in one process, where a meter can be attached to the store. */
const storeCallsOf = async (answersAfter: number): Promise<number[]> => {
  const stage = await startStage()
  const target = await startTarget(answersAfter)
  try {
    const caller = await stage.install()
    const { app } = await stage.installWithTool({ workspaceId: caller.workspaceId, endpoint: target.url })
    const body = { arguments: { agent: app.slug, tool: 'greet', arguments: { name: 'Ada' } } }
    const ask = () => stage.call('POST', '/api/v1/tools/ask_agent/invoke', { token: caller.token, body })
    const counts: number[] = []
    for (let n = 0; n < METERED_CALLS; n++) {
      stage.platform.clock.advance(30_000)
      const { result, consumption } = await stage.whileWorking(() => stage.meter.during(ask))
      requireAnswer(result.body.result)
      counts.push(consumption.calls)
    }
    return counts
  } finally {
    await target.close()
    await stage.close()
  }
}
