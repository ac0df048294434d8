import { describe, expect, it } from 'vitest'
import { fromProtoJson, fromQuery } from '#shared/kernel/a2a-json.ts'
import { usingPlatform } from '#testkit/using-platform.ts'
import { ACCEPT, succeedsWith, usingAgents } from '../api/agents-support.ts'
import { conversation, look } from './a2a-support.ts'

const platform = usingPlatform()
const agents = usingAgents(platform)
const scene = (behaviour = () => ACCEPT as unknown) => conversation(platform, agents, behaviour)

const started = async ({ rpc }: Awaited<ReturnType<typeof scene>>) => {
  const sent = await rpc('SendMessage', { ...look(), configuration: { returnImmediately: true } })
  return sent.body.result.task as { id: string; contextId: string }
}

describe('ProtoJSON', () => {
  it('may name fields as the schema does, number enums, write integers as text, and unset fields by null', () => {
    expect(
      fromProtoJson('Params', {
        tenant: null,
        history_length: '3',
        page_size: 20,
        status: 6,
        metadata: null,
        message: { message_id: 'm', role: 1, task_id: null, parts: [{ text: 'a', media_type: null, raw: null }] },
        configuration: { return_immediately: true, task_push_notification_config: { url: 'https://a.example' } },
      }),
    ).toEqual({
      historyLength: 3,
      pageSize: 20,
      status: 'TASK_STATE_INPUT_REQUIRED',
      message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'a' }] },
      configuration: { returnImmediately: true, taskPushNotificationConfig: { url: 'https://a.example' } },
    })
  })

  it('leaves what callers put into data and metadata as it is', () => {
    const data = { snake_case: null, role: 1, parts: [{ raw: null }] }
    const part = { data, metadata: { media_type: null } }
    expect(fromProtoJson('Message', { parts: [part, { data: null }] })).toEqual({ parts: [part, { data: null }] })
    expect(fromProtoJson('Message', { own_field: null, constructor: 1 })).toEqual({ own_field: null, constructor: 1 })
  })

  it('reads both alphabets of base64, and prefers the names of JSON', () => {
    expect(fromProtoJson('Part', { raw: '-_8' })).toEqual({ raw: '+/8=' })
    expect(fromProtoJson('Part', { raw: '+/8=' })).toEqual({ raw: '+/8=' })
    expect(fromProtoJson('Message', { task_id: 'one', taskId: 'other' })).toEqual({ taskId: 'other' })
  })

  it('leaves values of other types to their reader', () => {
    const wrong = { status: 99, historyLength: '1.5', message: 'text', configuration: [null] }
    expect(fromProtoJson('Params', wrong)).toEqual(wrong)
  })

  it('reads queries by the types of their parameters', () => {
    expect(
      fromQuery([
        ['contextId', '123'],
        ['pageSize', '20'],
        ['include_artifacts', 'true'],
        ['status', 'TASK_STATE_WORKING'],
      ]),
    ).toEqual({ contextId: '123', pageSize: 20, includeArtifacts: true, status: 'TASK_STATE_WORKING' })
  })
})

describe('requests in ProtoJSON', () => {
  const { messageId } = look().message
  const message = {
    message_id: messageId,
    context_id: null,
    task_id: null,
    role: 1,
    parts: [{ data: { skill: 'look', arguments: { n: 1 } }, text: null, media_type: null }],
    metadata: null,
  }
  const params = {
    tenant: null,
    message,
    configuration: { return_immediately: true, history_length: '0' },
    metadata: null,
  }

  it('are taken over both bindings', async () => {
    const made = await scene()
    const sent = await made.rpc('SendMessage', params)
    expect(sent.body.result.task.status.state).toBe('TASK_STATE_SUBMITTED')
    const again = await made.rest('POST', '/message:send', { ...params, extra: null })
    expect(again.body.task.id).toBe(sent.body.result.task.id)
    const listed = await made.rpc('ListTasks', { status: 1, page_size: '10', context_id: null })
    expect(listed.body.result.tasks).toHaveLength(1)
    const queried = await made.rest('GET', `/tasks?status=1&page_size=10&include_artifacts=true`)
    expect(queried.body.tasks).toHaveLength(1)
  })

  it('are taken in 0.3', async () => {
    const made = await scene()
    const legacy = { headers: { 'a2a-version': '0.3' }, path: '/v0.3/rpc' }
    const parts = [{ kind: 'data', data: { skill: 'look', arguments: {} }, metadata: null }]
    const kind = { kind: 'message', messageId: 'm-1', role: 'user', parts, contextId: null, taskId: null }
    const sent = await made.rpc(
      'message/send',
      { message: kind, configuration: { blocking: false }, metadata: null },
      legacy,
    )
    expect(sent.body.result).toMatchObject({ kind: 'task', status: { state: 'submitted' } })
    const proto = {
      request: {
        message_id: 'm-2',
        role: 1,
        content: [{ data: { data: { skill: 'look', arguments: {} } } }],
        task_id: null,
      },
      configuration: null,
    }
    const rest = await platform.call('POST', `${made.at}/v0.3/v1/message:send`, {
      token: made.caller.token,
      body: proto,
      headers: { 'a2a-version': '0.3' },
    })
    expect(rest.body.task.status.state).toBe('TASK_STATE_SUBMITTED')
  })

  it('may have null as params', async () => {
    const { rpc } = await scene()
    expect((await rpc('ListTasks', null as never)).body.result.tasks).toEqual([])
  })
})

describe('metadata of the platform', () => {
  it('that doesn’t exist is refused and named, wherever it is; that of others is ignored', async () => {
    const { rpc, target } = await scene()
    for (const key of ['aip/audiance', 'AIP/audience', 'aip.audience', 'aip_audience']) {
      const metadata = { [key]: 'external' }
      const own = look({}, { metadata })
      const part = look()
      Object.assign(part.message.parts[0] as object, { metadata })
      for (const params of [own, { ...look(), metadata }, part]) {
        const { error } = (await rpc('SendMessage', params)).body
        expect([error?.code, error?.message.includes(key)], key).toEqual([-32_602, true])
      }
    }
    expect(await agents.runsOf(target)).toEqual([])
    const others = look({}, { metadata: { 'aipcorp.com/audience': 'x', aipaudience: 1 } })
    expect(
      (await rpc('SendMessage', { ...others, configuration: { returnImmediately: true } })).body.result,
    ).toBeDefined()
  })

  it('makes a call external if either place says so', async () => {
    const { rpc, target } = await scene()
    const [external, member] = [{ 'aip/audience': 'external' }, { 'aip/audience': 'member' }]
    const configuration = { returnImmediately: true }
    await rpc('SendMessage', { ...look({}, { metadata: external }), metadata: member, configuration })
    await rpc('SendMessage', { ...look({}, { metadata: member }), metadata: external, configuration })
    expect((await agents.runsOf(target)).map(({ audience }) => audience)).toEqual(['external', 'external'])
  })
})

describe('parameters', () => {
  it('without an id, or with one of another type, are named as such', async () => {
    const made = await scene()
    const { rpc } = made
    for (const method of ['GetTask', 'CancelTask', 'SubscribeToTask']) {
      for (const params of [{}, { id: 7 }, { id: '' }, { id: null }]) {
        const { error } = (await rpc(method, params)).body
        expect([error.code, error.data[1]?.fieldViolations[0].field], method).toEqual([-32_602, 'id'])
      }
    }
    for (const method of ['Get', 'List', 'Create'].map(
      (verb) => `${verb}TaskPushNotificationConfig${verb === 'List' ? 's' : ''}`,
    )) {
      const { error } = (await rpc(method, { url: 'https://a.example' })).body
      expect([error.code, error.data[1]?.fieldViolations[0].field], method).toEqual([-32_602, 'taskId'])
    }
    const legacy = { headers: { 'a2a-version': '0.3' }, path: '/v0.3/rpc' }
    for (const method of ['tasks/get', 'tasks/cancel', 'tasks/resubscribe', 'tasks/pushNotificationConfig/get'])
      expect((await rpc(method, {}, legacy)).body.error.code, method).toBe(-32_602)
    expect((await rpc('GetTask', { id: 'nothing' })).body.error.code).toBe(-32_001)
  })

  it('filter lists by a moment that counts itself', async () => {
    const made = await scene()
    const { id } = await started(made)
    const run = await agents.runOf(made.caller.workspaceId, id)
    const list = async (statusTimestampAfter: string) =>
      (await made.rpc('ListTasks', { statusTimestampAfter })).body.result?.tasks.length
    const at = new Date(run.created_at).toISOString()
    expect(await list(at)).toBe(1)
    expect(await list(at.replace('Z', '000Z'))).toBe(1)
    expect(await list(at.replace('Z', '+00:00'))).toBe(1)
    expect(await list(at.replace('Z', '001Z'))).toBe(0)
    expect(await list(new Date(run.created_at + 1).toISOString())).toBe(0)
    expect((await made.rpc('ListTasks', { statusTimestampAfter: '2026' })).body.error.code).toBe(-32_602)
  })
})

describe('errors', () => {
  it('say fields and reasons in their text, and have the ErrorInfo alone as data in 0.3', async () => {
    const { rpc, at, caller } = await scene(succeedsWith({}))
    const typed = (await rpc('SendMessage', look({ n: 'many' }))).body.error
    expect(typed.message).toContain('n: must be of type number')
    expect(typed.data[1].fieldViolations).toHaveLength(1)
    const info = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'TASK_NOT_FOUND' }
    const places = [
      { path: '/v0.3/rpc', headers: { 'a2a-version': '0.3' } },
      { path: '/rpc', headers: { 'a2a-version': '' } },
    ]
    for (const place of places) {
      const { error } = (await rpc('tasks/get', { id: 'run_0' }, place)).body
      expect(error).toMatchObject({ code: -32_001, data: info })
    }
    const rest = await platform.call('GET', `${at}/v0.3/v1/tasks/run_0`, { token: caller.token })
    expect([rest.status, rest.body]).toMatchObject([404, { code: -32_001, data: info }])
    expect((await rpc('GetTask', { id: 'run_0' })).body.error.data).toMatchObject([info])
  })
})
