import { setTimeout as sleep } from 'node:timers/promises'
import { EventSource } from 'eventsource'
import { afterEach, describe, expect, it } from 'vitest'
import { usingReceiver } from '#testkit/using.ts'
import { type Agent, must, newAgent, sandboxToken, send, until } from './support.ts'
import { usingLocal } from './using-local.ts'

const sources: EventSource[] = []
const running = usingLocal()
const receiver = usingReceiver({ kind: 'answer', status: 202 })
afterEach(() => {
  for (const source of sources.splice(0)) source.close()
})

interface Told {
  id: string
  event: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read events of every shape
  data: any
  at: number
}

/** Creates an app with a run that its agent works on, and the agent's actions on it. */
const startedRun = async () => {
  const agent = await newAgent(running.baseUrl, { endpoint: receiver.url })
  const token = await sandboxToken(running.baseUrl, agent)
  const before = receiver.requests.length
  const run = await must(running.baseUrl, 'POST', '/api/v1/runs', { token, body: {} })
  const [request] = (await receiver.received(before + 1)).slice(-1)
  const callback = JSON.parse(String(request?.body)).callback.token as string
  await until(async () =>
    (await must(running.baseUrl, 'GET', `/api/v1/runs/${run.id}`, { token })).status === 'running' ? true : undefined,
  )
  const act = (what: string, body: object) =>
    must(running.baseUrl, 'POST', `/api/v1/runs/${run.id}/${what}`, { token: callback, body })
  return { agent, token, path: `/api/v1/runs/${run.id}/stream`, act }
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

/** A third-party client of the standard, as a browser's page would use it. */
const listen = (path: string, credential: Record<string, string>) => {
  const events: Told[] = []
  const statuses: number[] = []
  let cut: AbortController | undefined
  const source = new EventSource(running.baseUrl + path, {
    fetch: async (url, init) => {
      cut = new AbortController()
      const signal = AbortSignal.any([cut.signal, ...(init.signal ? [init.signal as AbortSignal] : [])])
      const response = await fetch(url, {
        ...init,
        signal,
        headers: { ...init.headers, ...credential },
      })
      statuses.push(response.status)
      return response
    },
  })
  sources.push(source)
  for (const event of ['state', 'step', 'gap', 'ready', 'replaced']) {
    source.addEventListener(event, (message) => {
      events.push({ id: message.lastEventId, event, data: JSON.parse(message.data), at: performance.now() })
    })
  }
  return {
    source,
    events,
    statuses,
    cut: () => cut?.abort(new TypeError('the network is gone')),
    ids: () => events.map(({ id }) => Number(id)),
  }
}

const streamsEnded = () =>
  running.logs.filter((entry) => entry.kind === 'function' && entry.line.includes('api.runs.stream')).length

describe('a run that is followed with an EventSource', () => {
  it('shows the agent’s work live, ends with the result, and isn’t requested again after 204', async () => {
    const { token, path, act } = await startedRun()
    const { source, events, statuses, ids } = listen(path, bearer(token))
    await until(() => (ids().at(-1) === 2 ? true : undefined))
    for (const n of [1, 2, 3]) {
      const done = performance.now()
      await act('steps', { type: 'looking', output: { n } })
      const step = await until(() => events.find(({ data }) => data.output?.n === n))
      expect(step.at - done, 'the time until it is shown').toBeLessThan(10_000)
    }
    await act('complete', { status: 'succeeded', output: { text: 'done' } })
    await until(() => (source.readyState === source.CLOSED ? true : undefined))
    expect(ids()).toEqual([1, 2, 3, 4, 5, 6])
    expect(events.at(-1)).toMatchObject({ event: 'state', data: { status: 'succeeded', output: { text: 'done' } } })
    expect(statuses).toEqual([200, 204])
  })

  it('loses nothing, however often its connection is cut', async () => {
    const { token, path, act } = await startedRun()
    const { source, statuses, ids, cut } = listen(path, bearer(token))
    for (let n = 1; n <= 4; n++) {
      await until(() => (statuses.length >= n ? true : undefined))
      await act('steps', { type: 'looking', output: { n, when: 'connected' } })
      await sleep(n * 120)
      cut()
      await act('steps', { type: 'looking', output: { n, when: 'cut off' } })
    }
    await act('complete', { status: 'succeeded' })
    await until(() => (source.readyState === source.CLOSED ? true : undefined))
    expect(ids()).toEqual(Array.from({ length: 11 }, (_, i) => i + 1))
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(5)
    expect(statuses.at(-1)).toBe(204)
  })

  it('is shown completely to each of four clients, though only three have a stream at a time', async () => {
    const { token, path, act } = await startedRun()
    const clients = Array.from({ length: 4 }, () => listen(path, bearer(token)))
    await until(() => clients.find(({ statuses }) => statuses.length > 1))
    await act('complete', { status: 'succeeded' })
    await until(() => (clients.every(({ source }) => source.readyState === source.CLOSED) ? true : undefined))
    for (const { ids } of clients) expect(ids()).toEqual([1, 2, 3])
  })

  it('ends within seconds when the token is revoked, and is then refused', async () => {
    const { agent, token, path } = await startedRun()
    const { source, statuses, ids } = listen(path, bearer(token))
    await until(() => (ids().at(-1) === 2 ? true : undefined))
    await revoke(agent)
    const began = performance.now()
    await until(() => (source.readyState === source.CLOSED ? true : undefined))
    expect(performance.now() - began).toBeLessThan(30_000)
    expect(statuses).toEqual([200, 401])
  })

  it('doesn’t keep its function running after the client disconnects', async () => {
    const { token, path } = await startedRun()
    const before = streamsEnded()
    const { source, ids } = listen(path, bearer(token))
    await until(() => (ids().at(-1) === 2 ? true : undefined))
    expect(streamsEnded()).toBe(before)
    source.close()
    await until(() => (streamsEnded() > before ? true : undefined), 5_000)
  })
})

describe('a listener', () => {
  it('that another one replaced isn’t requested again after 204, while the newer one stays', async () => {
    const { app, headers } = await newAgent(running.baseUrl, { endpoint: receiver.url })
    const path = `/api/v1/dev/listen?app_id=${app.id}`
    const first = listen(path, headers)
    await until(() => first.events.find(({ event }) => event === 'ready'))
    const second = listen(path, headers)
    await until(() => (first.source.readyState === first.source.CLOSED ? true : undefined))
    expect(first.events.map(({ event }) => event)).toEqual(['ready', 'replaced'])
    expect([first.statuses, second.statuses]).toEqual([[200, 204], [200]])
    expect(second.source.readyState).toBe(second.source.OPEN)
  })
})

describe('a run that has ended', () => {
  it('is one answer for clients without support for events', async () => {
    const { token, path, act } = await startedRun()
    await act('complete', { status: 'succeeded' })
    const answer = await send(running.baseUrl, 'GET', path, { token })
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
    expect(answer.text.match(/^id: .*$/gm)).toEqual(['id: 1', 'id: 2', 'id: 3'])
  })
})

/** Rotating the app's secret ends every access token at once. */
const revoke = ({ app, headers }: Agent) =>
  must(running.baseUrl, 'POST', `/api/v1/dev/apps/${app.id}/rotate-secret`, { headers })
