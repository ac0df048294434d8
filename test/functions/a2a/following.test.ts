import { describe, expect, it } from 'vitest'
import { taskEvents } from '#shared/agents/a2a/index.ts'
import type { Position } from '#shared/agents/a2a/stream.ts'
import type { Work } from '#shared/foundation/work/index.ts'
import { callbackToken } from '#testkit/fixtures.ts'
import { succeeded } from '#testkit/platform.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { ACCEPT, type Behaviour, usingAgents } from '../api/agents-support.ts'
import { conversation, look, saying } from './a2a-support.ts'

const platform = usingPlatform()
const agents = usingAgents(platform)

const QUESTION = { status: 'input_required', input_requests: { shelf: { message: 'Which shelf?' } } }

/** Asks which shelf, and succeeds with the answer. */
const asks: Behaviour = (execute) =>
  execute.resume ? { status: 'succeeded', output: { shelf: execute.resume.input.shelf.content.text } } : QUESTION

const scene = async (behaviour: Behaviour) => {
  const made = await conversation(platform, agents, behaviour)
  const { rpc, caller, target } = made
  /** Starts a task without waiting. */
  const start = async () => {
    const { body } = await rpc('SendMessage', { ...look(), configuration: { returnImmediately: true } })
    return body.result.task as { id: string; contextId: string }
  }
  const runOf = (id: string) => agents.runOf(caller.workspaceId, id)
  /** Follows a task until the stream closes. @returns its states with the events' ids, and whether it closed itself */
  const follow = async (id: string, from?: Position, during?: () => Promise<unknown>) => {
    const timeout = AbortSignal.timeout(during ? 20_000 : 1_000)
    const seen: string[] = []
    const run = await runOf(id)
    const acting = during?.()
    for await (const event of taskEvents(platform.deps as unknown as Work, run, from, timeout)) {
      if (!event) continue
      const { task, statusUpdate, artifactUpdate } = event.data as Record<string, { status: { state: string } }>
      const state = (task ?? statusUpdate)?.status.state.replace('TASK_STATE_', '')
      seen.push(`${event.id} ${task ? 'task ' : ''}${artifactUpdate ? 'artifact' : state}`)
    }
    await acting
    return { seen, closed: !timeout.aborted }
  }
  const report = async (id: string, steps: object[]) =>
    succeeded(
      platform.call('POST', `/api/v1/runs/${id}/steps`, {
        token: await callbackToken(platform.deps, target, id),
        body: { steps },
      }),
    )
  return { ...made, start, follow, report, runOf }
}

describe('a stream of a task', () => {
  it('closes when the task needs its caller’s input, and goes on with the next one', async () => {
    const { start, follow, rpc, rest: request } = await scene(asks)
    const { id } = await start()
    const first = await follow(id, undefined, () => platform.drain())
    expect(first.closed).toBe(true)
    expect(first.seen.map((event) => event.replace(/^\S+ /, ''))).toEqual([
      'task SUBMITTED',
      'WORKING',
      'INPUT_REQUIRED',
    ])
    const last = Number(first.seen.at(-1)?.split(' ')[0])
    expect(await follow(id)).toEqual({ seen: [`${last} task INPUT_REQUIRED`], closed: true })
    expect(await follow(id, { after: last, seen: 0 })).toEqual({ seen: [], closed: true })
    // The reader of the address gets the task, and not an empty stream.
    const again = await rpc('SubscribeToTask', { id }, { headers: { 'last-event-id': String(last) } })
    expect(again.text).toContain('"state":"TASK_STATE_INPUT_REQUIRED"')
    const reconnect = (method: 'GET' | 'POST') =>
      request(method, `/tasks/${id}:subscribe`, undefined, undefined, { 'last-event-id': String(last) })
    expect((await reconnect('GET')).status, 'an EventSource stops').toBe(204)
    expect((await reconnect('POST')).text, 'a client of A2A reads a stream').toContain('"TASK_STATE_INPUT_REQUIRED"')
    await rpc('SendMessage', { ...saying('Three', { taskId: id }), configuration: { returnImmediately: true } })
    await platform.drain()
    const rest = await follow(id, { after: last, seen: 0 })
    expect(rest.closed).toBe(true)
    expect(rest.seen.map((event) => event.replace(/^\S+ /, ''))).toEqual(['WORKING', 'artifact', 'COMPLETED'])
  })

  it('ends with the question also if the agent reports something while it waits', async () => {
    const { start, follow, report } = await scene(asks)
    const { id } = await start()
    await platform.drain()
    const { seen } = await follow(id, { after: 0, seen: 0 })
    const asked = Number(seen.at(-1)?.split(' ')[0])
    await report(id, [{ type: 'message', output: { text: 'Still here.' } }])
    expect(await follow(id, { after: asked, seen: 0 })).toEqual({
      seen: [`${asked + 1}.1 WORKING`, `${asked + 1} INPUT_REQUIRED`],
      closed: true,
    })
    expect(await follow(id, { after: asked, seen: 1 })).toEqual({ seen: [`${asked + 1} INPUT_REQUIRED`], closed: true })
  })

  it('shows every question of several, whichever the reader saw last', async () => {
    const { start, follow, target, rpc } = await scene(() => ACCEPT)
    const { id } = await start()
    await platform.drain()
    const token = await callbackToken(platform.deps, target, id)
    for (const key of ['one', 'two']) {
      const body = { input_requests: { [key]: { message: `${key}?` } } }
      await succeeded(platform.call('POST', `/api/v1/runs/${id}/input-requests`, { token, body }))
    }
    const first = await follow(id, { after: 0, seen: 0 })
    const second = await follow(id, { after: Number(first.seen.at(-1)?.split(' ')[0]), seen: 0 })
    expect([...first.seen, ...second.seen].filter((event) => event.endsWith('INPUT_REQUIRED'))).toHaveLength(2)
    expect([first.closed, second.closed]).toEqual([true, true])
    const answered = { ...saying('', { taskId: id }), configuration: { returnImmediately: true } }
    answered.message.parts = [{ data: { one: { text: '1' } } }] as never
    await rpc('SendMessage', answered)
    expect((await follow(id)).seen[0]).toMatch(/task INPUT_REQUIRED$/)
  })

  it('stays open while a person of the workspace decides', async () => {
    const { start, follow, target } = await scene(() => ACCEPT)
    await target.set({ scopes: ['tools:invoke', 'runs:read', 'runs:write'] })
    const { id } = await start()
    await platform.drain()
    const token = await callbackToken(platform.deps, target, id)
    await agents.invoke(token, 'http_fetch', { url: 'https://example.com/' })
    const { seen, closed } = await follow(id)
    expect(seen[0]).toMatch(/task AUTH_REQUIRED$/)
    expect(closed).toBe(false)
  })

  it('says in 0.3 that the question is its last event', async () => {
    const { start, rpc } = await scene(asks)
    const { id } = await start()
    await platform.drain()
    const path = '/v0.3/rpc'
    const headers = { 'a2a-version': '0.3', 'last-event-id': '0' }
    const { text } = await rpc('tasks/resubscribe', { id }, { path, headers })
    const events = [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(String(data)).result)
    expect(events.map(({ status, final }) => [status.state, final])).toEqual([
      ['submitted', false],
      ['working', false],
      ['input-required', true],
    ])
  })
})

describe('the history of a task', () => {
  const textsOf = (history: { role: string; messageId: string; parts: { text?: string; data?: unknown }[] }[]) =>
    history.map(({ role, parts: [part] }) => [role, part?.text ?? part?.data])

  it('has what the caller said, what the agent reported, and its questions', async () => {
    const { rpc, start, report } = await scene(asks)
    const params = look({ n: 2 })
    const sent = await rpc('SendMessage', { ...params, configuration: { returnImmediately: true } })
    const { id, contextId, history } = sent.body.result.task
    expect(history).toEqual([{ ...params.message, taskId: id, contextId }])
    await platform.drain()
    await report(id, [{ type: 'message', output: { text: 'Waiting.' } }])
    const read = async (more = {}) => (await rpc('GetTask', { id, ...more })).body.result
    // The question that still waits is the task's status.
    expect(textsOf((await read()).history)).toEqual([
      ['ROLE_USER', { skill: 'look', arguments: { n: 2 } }],
      ['ROLE_AGENT', 'Waiting.'],
    ])
    const answer = saying('Three', { taskId: id })
    await rpc('SendMessage', { ...answer, configuration: { returnImmediately: true } })
    await platform.drain()
    const ended = await read()
    expect(textsOf(ended.history)).toEqual([
      ['ROLE_USER', { skill: 'look', arguments: { n: 2 } }],
      ['ROLE_AGENT', 'Which shelf?'],
      ['ROLE_USER', 'Three'],
      ['ROLE_AGENT', 'Waiting.'],
    ])
    expect(ended.history[2]).toEqual({ ...answer.message, contextId })
    expect((await read({ historyLength: 1 })).history).toHaveLength(1)
    expect(await read({ historyLength: 0 })).not.toHaveProperty('history')
    expect((await start()).id).not.toBe(id)
  })

  it('begins with a free message as it was sent', async () => {
    const { rpc } = await scene(() => ACCEPT)
    const params = saying('How many?')
    const sent = await rpc('SendMessage', { ...params, configuration: { returnImmediately: true } })
    const { id, contextId, history } = sent.body.result.task
    expect(history).toEqual([{ ...params.message, taskId: id, contextId }])
  })
})
