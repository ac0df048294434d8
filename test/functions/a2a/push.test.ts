import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { InstallationEntity } from '#shared/access/installations/entity.ts'
import { A2aPushEntity } from '#shared/agents/a2a/entity.ts'
import { emittedBy, type OutboxEvent } from '#shared/foundation/outbox/index.ts'
import { MINUTE, SECOND } from '#shared/kernel/clock.ts'
import { verifySvc } from '#shared/kernel/signatures.ts'
import { usingReceiver } from '#testkit/using.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { ACCEPT, succeedsWith, usingAgents } from '../api/agents-support.ts'
import { conversation, look } from './a2a-support.ts'

const platform = usingPlatform()
const agents = usingAgents(platform)
const receiver = usingReceiver()

/** Task of the current test. Those of earlier ones may still end. */
let task: string

const scene = async (behaviour = succeedsWith({ found: 3 }) as Parameters<typeof conversation>[2]) => {
  await platform.drain()
  receiver.requests.length = 0
  receiver.answer({ kind: 'answer' })
  return conversation(platform, agents, behaviour)
}

const pushTo = (more: object = {}) => ({ url: `${receiver.url}/push`, token: 'tell-me', ...more })

const sending = (config: object) => ({
  ...look({ n: 1 }),
  configuration: { returnImmediately: true, taskPushNotificationConfig: config },
})

// biome-ignore lint/suspicious/noExplicitAny: bodies of every shape
const bodies = (): any[] => arrived().map(({ body }) => JSON.parse(body.toString()))

const arrived = () => receiver.requests.filter(({ body }) => body.includes(task))

const started = (answer: { body: { result: { task: { id: string } } } }): string => {
  task = answer.body.result.task.id
  return task
}

const statesOf = (all = bodies()): string[] =>
  all.map(
    ({ statusUpdate, artifactUpdate }) =>
      statusUpdate?.status.state ?? `artifact ${artifactUpdate?.artifact.artifactId}`,
  )

/** Delivers all messages, also those that wait for up to so long. */
const settle = async (ms: number, step = SECOND): Promise<void> => {
  for (let passed = 0; passed <= ms; passed += step) {
    await platform.drain()
    platform.clock.advance(step)
  }
}

const callback = (path: string, body: unknown) => {
  const { run, callback: given } = agents.received.at(-1)
  return platform.call('POST', `/api/v1/runs/${run.id}/${path}`, { token: given.token, body })
}

describe('push notifications', () => {
  it('bring each status and artifact of a task in order, once, with the token, the credentials and a signature', async () => {
    const { rpc } = await scene(() => ACCEPT)
    const config = pushTo({ id: 'mine', authentication: { scheme: 'Bearer', credentials: 'secret' } })
    const answer = await rpc('SendMessage', sending(config))
    started(answer)
    const { body } = answer
    expect(body.result.task.status.state).toBe('TASK_STATE_SUBMITTED')
    await settle(3 * SECOND)
    await callback('steps', { steps: [{ type: 'message', output: { text: 'Looking' } }] })
    await settle(20 * SECOND)
    await callback('complete', { status: 'succeeded', output: { found: 3 } })
    await settle(20 * SECOND)
    expect(statesOf()).toEqual([
      'TASK_STATE_SUBMITTED',
      'TASK_STATE_WORKING',
      'TASK_STATE_WORKING',
      'artifact output',
      'TASK_STATE_COMPLETED',
    ])
    expect(bodies()[2].statusUpdate.status.message.parts).toEqual([{ text: 'Looking' }])
    for (const { headers, body: sent } of arrived()) {
      expect(headers).toMatchObject({
        'content-type': 'application/a2a+json',
        authorization: 'Bearer secret',
        'x-a2a-notification-token': 'tell-me',
      })
      const at = Math.floor(platform.clock.now() / SECOND)
      expect(verifySvc('tell-me', String(headers['x-svc-signature']), sent.toString(), at)).toBe(true)
    }
    const ids = arrived().map(({ headers }) => headers['x-svc-delivery'])
    expect(new Set(ids).size).toBe(5)
    await settle(20 * MINUTE, MINUTE)
    expect(arrived().length).toBe(5)
    expect(platform.messages).toEqual([])
  })

  it('of a task that is configured while its agent works bring its end at once', async () => {
    const { table } = platform.deps
    const { transact } = table
    const ends: OutboxEvent[] = []
    let rpc: Awaited<ReturnType<typeof scene>>['rpc'] | undefined
    const made = await scene(async ({ run }) => {
      await rpc?.('CreateTaskPushNotificationConfig', { taskId: run.id, ...pushTo() })
      table.transact = async (writes) => {
        await transact.call(table, writes)
        ends.push(...writes.flatMap((write) => emittedBy(write) ?? []).filter(({ type }) => type === 'run.succeeded'))
      }
      return { status: 'succeeded', output: { found: 3 } }
    })
    rpc = made.rpc
    started(await rpc('SendMessage', { ...look({ n: 1 }), configuration: { returnImmediately: true } }))
    await settle(3 * SECOND)
    table.transact = transact
    // Its event wakes the worker that sends it.
    expect(ends).toMatchObject([{ pushes: true }])
    expect(statesOf().at(-1)).toBe('TASK_STATE_COMPLETED')
  })

  it('come soon after a person decides, although the task waited for long', async () => {
    const { rpc } = await scene(() => ACCEPT)
    started(await rpc('SendMessage', sending(pushTo())))
    await settle(3 * SECOND)
    await callback('input-requests', {
      input_requests: {
        shelf: { message: 'Which?', schema: { type: 'object', properties: { name: { type: 'string' } } } },
      },
    })
    await settle(30 * SECOND)
    expect(statesOf().at(-1)).toBe('TASK_STATE_INPUT_REQUIRED')
    await settle(40 * MINUTE, 5 * MINUTE)
    const before = arrived().length
    const taskId = task
    await rpc('SendMessage', {
      message: { messageId: randomUUID(), role: 'ROLE_USER', taskId, parts: [{ text: 'Left' }] },
    })
    await settle(3 * SECOND)
    expect(statesOf().slice(before)).toContain('TASK_STATE_WORKING')
  })

  it('are repeated in order while the receiver fails; five events given up in a row end them', async () => {
    const { rpc } = await scene(() => ACCEPT)
    started(await rpc('SendMessage', sending(pushTo())))
    receiver.answer({ kind: 'answer', status: 500 })
    await settle(3 * SECOND)
    const first = arrived().length
    expect(first).toBe(1)
    // Later changes don't shorten the receiver's pause.
    await callback('steps', { steps: [{ type: 'message', output: { text: 'Looking' } }] })
    receiver.answer({ kind: 'answer' })
    await settle(5 * MINUTE, 10 * SECOND)
    expect(statesOf().slice(0, 4)).toEqual([
      'TASK_STATE_SUBMITTED',
      'TASK_STATE_SUBMITTED',
      'TASK_STATE_WORKING',
      'TASK_STATE_WORKING',
    ])
    receiver.answer({ kind: 'answer', status: 500 })
    const many = await callback('steps', {
      steps: [1, 2, 3, 4, 5, 6].map((n) => ({ type: 'message', output: { text: `Step ${n}` } })),
    })
    expect(many.status, many.text).toBe(201)
    await settle(72 * 60 * MINUTE, 30 * MINUTE)
    expect((await platform.deps.table.query(A2aPushEntity, { run_id: task }, { limit: 5 })).items).toEqual([])
  })

  it('end when the caller’s access ends', async () => {
    const { rpc, caller } = await scene(() => ACCEPT)
    started(await rpc('SendMessage', sending(pushTo())))
    await settle(3 * SECOND)
    const before = arrived().length
    await platform.deps.table.transact([
      InstallationEntity.update(caller.installation, { set: { scopes: ['files:read'] } }),
    ])
    await callback('complete', { status: 'succeeded', output: {} })
    await settle(MINUTE, 5 * SECOND)
    expect(arrived().length).toBe(before)
  })

  it('reach a receiver after the workers died at any point: everything, in order', async () => {
    const { rpc } = await scene(() => ACCEPT)
    started(await rpc('SendMessage', sending(pushTo())))
    await settle(3 * SECOND)
    await callback('complete', { status: 'succeeded', output: { found: 3 } })
    // Messages are lost: of the queue, and of the bus.
    platform.messages.length = 0
    platform.outbox.length = 0
    for (let i = 0; i < 6; i++) {
      platform.clock.advance(MINUTE)
      await platform.sweep()
      await platform.drain()
    }
    expect([...new Set(statesOf())]).toEqual([
      'TASK_STATE_SUBMITTED',
      'TASK_STATE_WORKING',
      'artifact output',
      'TASK_STATE_COMPLETED',
    ])
  })
})

describe('configurations', () => {
  it('are created, replaced, read, listed and deleted, and never show their secrets', async () => {
    const { rpc, rest } = await scene(() => ACCEPT)
    const sent = await rpc('SendMessage', { ...look({ n: 1 }), configuration: { returnImmediately: true } })
    const taskId = started(sent)
    const create = (config: object) => rpc('CreateTaskPushNotificationConfig', { taskId, ...config })
    const made = await create(pushTo({ id: 'mine', authentication: { scheme: 'Bearer', credentials: 'secret' } }))
    expect(made.body.result).toEqual({
      id: 'mine',
      taskId,
      url: `${receiver.url}/push`,
      authentication: { scheme: 'Bearer' },
    })
    const replaced = await create({ id: 'mine', url: `${receiver.url}/other` })
    expect(replaced.body.result?.url, replaced.text).toBe(`${receiver.url}/other`)
    const [other] = await Promise.all([1, 2, 3, 4].map(() => create(pushTo())))
    const sixth = await create(pushTo())
    expect(sixth.body.error.code).toBe(-32_602)
    const list = await rest('GET', `/tasks/${taskId}/pushNotificationConfigs`)
    expect(list.body.configs.length).toBe(5)
    expect(list.text).not.toMatch(/tell-me|secret/)
    expect(list.body.configs[0].url).toBe(`${receiver.url}/other`)
    const id = other?.body.result.id
    expect((await rest('GET', `/tasks/${taskId}/pushNotificationConfigs/${id}`)).body.id).toBe(id)
    await rpc('DeleteTaskPushNotificationConfig', { taskId, id })
    expect((await rpc('GetTaskPushNotificationConfig', { taskId, id })).body.error.code).toBe(-32_001)
    expect((await rpc('DeleteTaskPushNotificationConfig', { taskId, id })).body.result).toEqual({})
  })

  it.each([
    ['http://169.254.169.254/latest', 'BLOCKED_TARGET'],
    ['http://10.0.0.8/', 'BLOCKED_TARGET'],
    ['ftp://example.com/', 'BLOCKED_TARGET'],
    ['', 'INVALID_PARAMS'],
  ])('to %s are refused before the task begins', async (url, reason) => {
    const { rpc } = await scene()
    const before = agents.received.length
    const { body } = await rpc('SendMessage', sending({ url }))
    expect(body.error.code).toBe(-32_602)
    expect(body.error.data[0].reason).toBe(reason)
    await platform.drain()
    expect(agents.received.length).toBe(before)
  })

  it('of version 0.3 bring the task', async () => {
    const { at, caller, rpc } = await scene(() => ACCEPT)
    const sent = await rpc('SendMessage', { ...look({ n: 1 }), configuration: { returnImmediately: true } })
    const taskId = started(sent)
    const legacy = (method: string, params: object) =>
      platform.call('POST', `${at}/v0.3/rpc`, { token: caller.token, body: { jsonrpc: '2.0', id: 1, method, params } })
    const made = await legacy('tasks/pushNotificationConfig/set', { taskId, pushNotificationConfig: pushTo() })
    const { id } = made.body.result.pushNotificationConfig
    expect(made.body.result).toEqual({ taskId, pushNotificationConfig: { id, url: `${receiver.url}/push` } })
    expect((await legacy('tasks/pushNotificationConfig/get', { id: taskId })).body.result).toEqual(made.body.result)
    expect((await legacy('tasks/pushNotificationConfig/list', { id: taskId })).body.result).toEqual([made.body.result])
    await settle(3 * SECOND)
    await callback('complete', { status: 'succeeded', output: { found: 3 } })
    await settle(20 * SECOND)
    expect(arrived().at(-1)?.headers['content-type']).toBe('application/json')
    expect(bodies().at(-1)).toMatchObject({ kind: 'task', id: taskId, status: { state: 'completed' } })
    expect(
      (await legacy('tasks/pushNotificationConfig/delete', { id: taskId, pushNotificationConfigId: id })).body.result,
    ).toBe(null)
  })
})
