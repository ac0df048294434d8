import { beforeEach, expect, it } from 'vitest'
import { OutboxEntity } from '#shared/foundation/outbox/index.ts'
import { createdEventId } from '#shared/work/runs/emit.ts'
import { dieAtEach, recover } from '#test/faults/die-at-each.ts'
import { usingReceiver } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { conversation, saying } from '../a2a/a2a-support.ts'
import { ACCEPT, usingAgents } from '../api/agents-support.ts'
import { tasksOf } from '../api/tasks-support.ts'

const platform = usingPlatform()
const agents = usingAgents(platform)
const agent = usingReceiver()

beforeEach(() => {
  platform.clock.advance(3_600_000)
  agent.requests.length = 0
  agent.answer({ kind: 'answer', status: 202 })
})

/** Does something that starts a run, and returns what the messages to the dispatcher are about. The stream is lost. */
const starts = async (act: () => Promise<{ status: number }>) => {
  await platform.drain()
  const { status } = await act()
  expect(status).toBeLessThan(300)
  const lost = platform.outbox.splice(0).map(({ type }) => type)
  expect(lost).not.toContain('run.created')
  const due = platform.messages.splice(0).filter(({ queue }) => queue === 'dispatch')
  for (const message of due) expect(await platform.deliver(message)).toBe(true)
  return due.map(({ body }) => (body as { kind: string }).kind)
}

it('the run of a task reaches its agent in one message, without the stream', async () => {
  const of = await tasksOf(platform, agent)
  const { id } = await of.task()
  expect(await starts(() => of.asPerson('POST', `/${id}/run`, {}))).toEqual(['start'])
  expect(agent.requests).toHaveLength(1)
})

it('so does the run that continues a task after an answer', async () => {
  const of = await tasksOf(platform, agent)
  const { id, run_id } = await of.handed()
  await of.asAgent('POST', `/${id}/question`, { text: 'Which shelf?' })
  await of.finish(run_id)
  expect(await starts(() => of.asPerson('POST', `/${id}/messages`, { text: 'The second.' }))).toEqual(['start'])
  expect(agent.requests).toHaveLength(2)
})

it('so does the run of a task that an agent delegates', async () => {
  const [caller, target] = await agents.team({}, { behaviour: () => ACCEPT })
  const { token } = await agents.running(caller)
  const before = agents.received.length
  expect(await starts(() => agents.delegate(token, target.slug))).toEqual(['start'])
  expect(agents.received.slice(before)).toMatchObject([{ run: { trigger: 'task' } }])
})

it('so does the run of an A2A message that nobody waits for', async () => {
  const { rpc } = await conversation(platform, agents, () => ACCEPT)
  const before = agents.received.length
  const message = { ...saying('Look around.'), configuration: { returnImmediately: true } }
  expect(await starts(() => rpc('SendMessage', message))).toEqual(['start'])
  expect(agents.received.slice(before)).toMatchObject([{ run: { trigger: 'a2a' } }])
})

it('a request that starts the run of a task and dies at any call has it sent once, or starts nothing', async () => {
  await dieAtEach(platform, { limit: 30, stride: 3 }, async (n, dying) => {
    platform.clock.advance(3_600_000)
    const of = await tasksOf(platform, agent)
    const { id } = await of.task()
    agent.requests.length = 0
    await dying(() => of.asPerson('POST', `/${id}/run`, {}))
    await recover(platform, 65_000)
    const runs = await of.runs()
    expect(runs.length, `a death at call ${n}`).toBe(agent.requests.length)
    expect(runs.length, `a death at call ${n}`).toBeLessThanOrEqual(1)
    for (const run of runs) {
      const event = await platform.deps.table.get(OutboxEntity, { id: createdEventId(run.id) })
      expect([run.status, event?.due_at], `a death at call ${n}`).toEqual(['running', undefined])
    }
  })
})
