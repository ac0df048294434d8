import { setTimeout as pause } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { newAgent, sandboxToken, send } from './support.ts'
import { usingLocal } from './using-local.ts'

const running = usingLocal()

const EVENTS = 20

/** Sends a request of an installation, and repeats it after a moment while its rate limit is used up. */
const patient = async (token: string, method: string, path: string, body?: unknown) => {
  for (;;) {
    const answer = await send(running.baseUrl, method, `/api/v1${path}`, { token, ...(body !== undefined && { body }) })
    if (answer.status !== 429) return answer
    await pause(200)
  }
}

const emit = async (token: string, type: string) => {
  const { status } = await patient(token, 'POST', '/tools/emit_event/invoke', { arguments: { type } })
  expect(status).toBe(200)
}

/** Polls by `since` until it has the given number of events, each with its id and type. */
const poll = async (token: string, limit: number, count: number) => {
  const seen: { id: string; type: string }[] = []
  while (seen.length < count) {
    const last = seen.at(-1)
    const { status, body } = await patient(
      token,
      'GET',
      `/events?limit=${limit}&types=custom.*${last ? `&since=${last.id}` : ''}`,
    )
    expect(status).toBe(200)
    seen.push(...body.items.map(({ id, type }: { id: string; type: string }) => ({ id, type })))
    await pause(100)
  }
  return seen
}

it('two pollers see what two writers write meanwhile exactly once, in the same order, and no other installation’s events', async () => {
  const tokens = await Promise.all(
    ['own', 'other'].map(async () =>
      sandboxToken(running.baseUrl, await newAgent(running.baseUrl, { endpoint: 'http://127.0.0.1:9' })),
    ),
  )
  const [own = '', other = ''] = tokens
  const write = async (token: string, name: string, writer: number) => {
    for (let i = writer; i < EVENTS; i += 2) await emit(token, `${name}.n${i}`)
  }
  const [one, two] = await Promise.all([
    poll(own, 3, EVENTS),
    poll(own, 100, EVENTS),
    ...[0, 1].map((writer) => write(own, 'own', writer)),
    write(other, 'other', 0),
  ])
  expect(two).toEqual(one)
  expect(one.map(({ type }) => type).sort()).toEqual(
    Array.from({ length: EVENTS }, (_, i) => `custom.own.n${i}`).sort(),
  )
})
